"""Headers of several rows are joined to names; labels below names are noted; rows of values are kept."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import Rows, as_csv, as_workbook, upload

NUMBERS: Rows = [[f"shop {n}", n, 2 * n, 3 * n, 4 * n] for n in range(1, 12)]
MERGED = {
    "merged groups": [["Shop", "May", "", "June", ""], ["", "sold", "left", "sold", "left"]],
    "repeated groups": [["Shop", "May", "May", "June", "June"], ["", "sold", "left", "sold", "left"]],
    "groups of years": [["Shop", "2023", "", "2024", ""], ["", "sold", "left", "sold", "left"]],
    "years in groups": [["Shop", "sold", "", "left", ""], ["", "2023", "2024", "2023", "2024"]],
    "three levels": [
        ["Shop", "Food", "", "", ""],
        ["", "sold", "", "left", ""],
        ["", "2023", "2024", "2023", "2024"],
    ],
}
NAMES = {
    "groups of years": ["Shop", "2023 sold", "2023 left", "2024 sold", "2024 left"],
    "years in groups": ["Shop", "sold 2023", "sold 2024", "left 2023", "left 2024"],
    "three levels": ["Shop", "Food sold 2023", "Food sold 2024", "Food left 2023", "Food left 2024"],
}
MONTHS = ["Shop", "May sold", "May left", "June sold", "June left"]


@pytest.mark.parametrize("case", MERGED)
@pytest.mark.parametrize("rows", [1, 11])
def test_a_header_of_several_rows_is_joined(case: str, rows: int, tmp_path: Path) -> None:
    """A file of one row, as it is sent to `predict`, has the names of a long one."""
    table, _ = upload(tmp_path / "csv", as_csv([*MERGED[case], *NUMBERS[:rows]]))
    assert list(table.columns) == NAMES.get(case, MONTHS)
    assert table.iloc[:, 1].tolist() == [row[1] for row in NUMBERS[:rows]]
    sheet, _ = upload(tmp_path / "xlsx", as_workbook(("S", [*MERGED[case], *NUMBERS[:rows]])), "shops.xlsx")
    assert list(sheet.columns) == NAMES.get(case, MONTHS)


def test_rows_that_describe_named_columns_are_noted(tmp_path: Path) -> None:
    head: Rows = [["id", "q1", "q2"], ["Response", "How old are you?", "Mark"], ["_id", "QID1", "QID2"]]
    table, notes = upload(tmp_path / "file", as_csv([*head, *[[f"r{n}", n + 20, n] for n in range(9)]]))
    assert list(table.columns) == ["id", "q1", "q2"]
    assert table["q1"].tolist() == list(range(20, 29))
    assert "How old are you?" in notes[0]


FIRST_ROWS: dict[str, Rows] = {
    "a word among numbers": [["Jan", "absent", 12]],
    "words that come again": [["Jan", "high", "low"], ["An", "high", "low"], ["Bo", "low", "high"]],
}


@pytest.mark.parametrize("case", FIRST_ROWS)
def test_a_first_row_of_values_is_no_header(case: str, tmp_path: Path) -> None:
    rows = [["name", "mark", "age"], *FIRST_ROWS[case], *[[f"n{n}", n, n + 5] for n in range(20)]]
    table, _ = upload(tmp_path / "file", as_csv(rows))
    assert list(table.columns) == ["name", "mark", "age"]
    assert len(table) == len(rows) - 1
