"""Workbooks: the sheet that is a table is read, and sheets of one header are one table."""

from pathlib import Path

import openpyxl
import pytest
from tests.unit.computations.uploads.uploaded_tables import TREES, Rows, as_workbook, upload

TABLE: Rows = [["tree", "age", "height"], *TREES]
BESIDE: dict[str, tuple[str, Rows]] = {
    "prose": ("Read me", [["Trees of the park"], ["Ask Kim"], [], ["See the next sheet"]]),
    "a legend": ("Columns", [["column", "meaning"], ["age", "in years"], ["height", "in metres"]]),
    "hidden": ("Lists", [["code", "label"], *[[n, n] for n in range(90)]]),
}


@pytest.mark.parametrize("case", BESIDE)
def test_the_sheet_that_is_a_table_is_read(case: str, tmp_path: Path) -> None:
    hidden = "Lists" if case == "hidden" else ""
    table, notes = upload(
        tmp_path / "file", as_workbook(BESIDE[case], ("Data", TABLE), hidden=hidden), "book.xlsx"
    )
    assert list(table.columns) == ["tree", "age", "height"]
    assert f"Only the sheet Data was read, not {BESIDE[case][0]}." in notes


def test_sheets_of_one_header_are_one_table(tmp_path: Path) -> None:
    sheets = [(year, [TABLE[0], *TREES[:5]]) for year in ("2022", "2023", "Total")]
    table, notes = upload(tmp_path / "file", as_workbook(*sheets), "book.xlsx")
    assert table["sheet"].tolist() == [2022] * 5 + [2023] * 5
    assert "Not read: Total." in notes


def test_the_first_of_several_tables_is_read(tmp_path: Path) -> None:
    other: Rows = [["bird", "count"], *[[f"b{n}", n] for n in range(90)]]
    table, _ = upload(tmp_path / "file", as_workbook(("Trees", TABLE), ("Birds", other)), "book.xlsx")
    assert list(table.columns) == TABLE[0]


def test_a_merged_label_stands_in_each_of_its_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["region", "tree", "age"],
        ["north", "oak", 3],
        [None, "ash", 4],
        ["south", "oak", 5],
        [None, "elm", 6],
    ):
        book.active.append(row)
    book.active.merge_cells("A2:A3")
    book.active.merge_cells("A4:A5")
    book.save(tmp_path / "book.xlsx")
    table, _ = upload(tmp_path / "file", (tmp_path / "book.xlsx").read_bytes(), "book.xlsx")
    assert table["region"].tolist() == ["north", "north", "south", "south"]
