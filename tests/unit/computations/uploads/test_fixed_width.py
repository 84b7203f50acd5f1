"""Columns of fixed width are split at their gaps in every line; other text is left to its delimiter."""

from pathlib import Path

import pandas as pd
import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

from app.errors import InvalidInput

COUNT = 30
PADDED = {
    "spaces behind": [f"{n:<4}{{0}}{'n' + str(n):<5}{{0}}{n % 7}" for n in range(COUNT)],
    "spaces before": [f"{n:>4}{{0}}{'n' + str(n):>5}{{0}}{n % 7:>4}" for n in range(COUNT)],
}


@pytest.mark.parametrize("mark", [",", ";", "~", "|"])
@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("title", ["", "Stock of May\n"])
def test_a_delimiter_goes_before_padding(mark: str, padding: str, title: str, tmp_path: Path) -> None:
    rows = [f"id  {mark}name {mark}qty", *(line.format(mark) for line in PADDED[padding])]
    table, _ = upload(tmp_path / "file", (title + "\n".join(rows)).encode())
    assert table["id"].tolist() == list(range(COUNT))
    assert table["qty"].tolist() == [n % 7 for n in range(COUNT)]


@pytest.mark.parametrize("has_index", [False, True])
def test_columns_that_pandas_prints_are_all_read(has_index: bool, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": range(1, COUNT + 1),
            "full name": [f"Ann {'x' * (n % 9)}".strip() for n in range(COUNT)],
            "qty": [10 ** (n % 4) for n in range(COUNT)],
        }
    )
    table, _ = upload(tmp_path / "file", frame.to_string(index=has_index).encode(), "table.txt")
    assert table[list(frame.columns)].values.tolist() == frame.values.tolist()


TEXTS = {
    "decimal commas": "Item      Price\n" + "".join(f"it{n:<8}{n},50\n" for n in range(COUNT)),
    "names with a comma": "NAME         AGE\n" + "".join(f"Doe,J{n:<8}{n + 0.5}\n" for n in range(COUNT)),
    "a ruled header": "id          x\n----------  ----\n" + "".join(f"a{n:<11}{n}.5\n" for n in range(COUNT)),
}


@pytest.mark.parametrize("case", TEXTS)
def test_the_last_column_is_a_number(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", TEXTS[case].encode(), "table.txt")
    assert table.iloc[:, -1].tolist() == [n + 0.5 for n in range(COUNT)]
    assert table.shape == (COUNT, 2)


def test_an_empty_column_keeps_its_name(tmp_path: Path) -> None:
    lines = ["name      remark     qty", *(f"n{n:<20}{n:>3}" for n in range(COUNT))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode(), "table.txt")
    assert list(table.columns) == ["name", "remark", "qty"]


HEAD = "id        name      qty\n" + "".join(f"{n:<10}n{n % 9:<9}{n % 90}\n" for n in range(6_000))


def test_columns_fit_lines_far_below_the_head(tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", (HEAD + "12345678 longname  55\n").encode(), "table.txt")
    assert table.iloc[-1].tolist() == [12345678, "longname", 55]


def test_a_line_that_crosses_a_gap_is_refused_by_number(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Line 6002 ") as refused:
        upload(tmp_path / "file", (HEAD + "12345678901 longname 55\n").encode(), "table.txt")
    assert refused.value.code == "unaligned_line"


def test_a_few_sentences_are_no_table(tmp_path: Path) -> None:
    lines = ["It was a dark night.  And stormy.", "The rain fell hard.  It was wet.", "Nobody came.  We left."]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode(), "table.txt")
    assert table.shape[1] == 1
