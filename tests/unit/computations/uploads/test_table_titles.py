"""Titles above a table are left out with a note, and the name of a single column is no title."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import TREES, Rows, as_csv, upload

TITLES: dict[str, Rows] = {
    "pairs and an empty row": [
        ["Export", "", ""],
        ["Made by:", "Kim", ""],
        ["Day", "2024-05-01", ""],
        ["", "", ""],
    ],
    "a pair under a title": [["Trees", "", ""], ["Filter", "Region = North", ""]],
    "a pair with a colon": [["Period:", "2024", ""]],
    "settings longer than the table": [[f"setting {n}: {n}"] for n in range(60)],
    "a title with commas": [["Trees, shrubs, hedges, and lawns of 2024"]],
    "a title with one comma": [["Trees of the park, first quarter"]],
}


@pytest.mark.parametrize("case", TITLES)
def test_titles_are_left_out_with_a_note(case: str, tmp_path: Path) -> None:
    titles = as_csv(TITLES[case]).replace(b'"', b"")
    table, notes = upload(tmp_path / "file", titles + as_csv([["tree", "age", "height"], *TREES]))
    assert list(table.columns) == ["tree", "age", "height"]
    assert table["tree"].tolist() == [row[0] for row in TREES]
    assert "left out" in notes[0]


SINGLE_COLUMNS = {
    "numbers with a decimal comma": ("price", "{n},19"),
    "numbers below several words": ("Weight in kg", "{n},25"),
    "texts with a comma": ("comment", "Great product {n}, fast delivery"),
    "names": ("name", "Jansen, Jan {n}"),
    "addresses": ("address", "Street {n}, Town, NL"),
    "durations": ("duration", "25{n}:08"),
}


@pytest.mark.parametrize("case", SINGLE_COLUMNS)
def test_the_name_of_a_single_column_is_no_title(case: str, tmp_path: Path) -> None:
    name, cell = SINGLE_COLUMNS[case]
    lines = [name, *(cell.format(n=n) for n in range(10, 40))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode())
    assert list(table.columns) == [name]
    assert len(table) == 30


KEPT: dict[str, Rows] = {
    "a header whose last column has no name": [
        ["name", "city", ""],
        ["Jan", "Delft", "late"],
        ["An", "Gouda", "ill"],
    ],
    "a header of two columns below a title": [["Rain of May"], ["day", "rain"], ["a", 1], ["b", 2], ["c", 3]],
}


@pytest.mark.parametrize("case", KEPT)
def test_headers_that_resemble_titles_are_kept(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", as_csv(KEPT[case]))
    assert table.columns[0] in ("name", "day")
    assert len(table) == len(KEPT[case]) - (1 if case.endswith("no name") else 2)
