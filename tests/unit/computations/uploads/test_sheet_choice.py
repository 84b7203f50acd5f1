"""Workbooks: the sheet that is a table is read, and sheets of one header are one table."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import openpyxl
import pytest
from tests.unit.computations.uploads.uploaded_tables import TREES, Rows, as_workbook, upload

from app.computations.uploads.excel import sheet_as_csv

MAX_BYTES = 10 << 20
"""Memory for a small workbook, of which one label for each merged cell would take 300 MB."""
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


def test_all_sheets_of_one_header_are_read(tmp_path: Path) -> None:
    sheets = [(f"week {week}", [TABLE[0], *TREES[:2]]) for week in range(1, 61)]
    table, notes = upload(tmp_path / "file", as_workbook(*sheets), "book.xlsx")
    assert table["sheet"].nunique() == 60
    assert any("and 50 more" in note for note in notes)


def test_titles_above_one_header_are_no_rows(tmp_path: Path) -> None:
    sheets = [
        (month, [*[[f"Trees of {month}"], []] * titles, TABLE[0], *TREES[:5]])
        for titles, month in enumerate(("May", "June", "July"))
    ]
    table, notes = upload(tmp_path / "file", as_workbook(*sheets), "book.xlsx")
    assert table["sheet"].tolist() == ["May"] * 5 + ["June"] * 5 + ["July"] * 5
    assert table[TABLE[0]].values.tolist() == [*TREES[:5]] * 3
    assert "Lines above the headers are left out, for example 'Trees of June'." in notes


def test_merged_cells_outside_the_table_take_no_memory(tmp_path: Path) -> None:
    book = as_workbook(("Trees", TABLE))
    ranges = "".join(f'<mergeCell ref="{column}2:{column}9999"/>' for column in "ABCXYZ" for _ in range(20))
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            merged = f"</sheetData><mergeCells>{ranges}</mergeCells>".encode()
            copy.writestr(name, source.read(name).replace(b"</sheetData>", merged))
    (tmp_path / "book.xlsx").write_bytes(target.getvalue())
    tracemalloc.start()
    path, _, _ = sheet_as_csv(tmp_path / "book.xlsx", tmp_path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(path.read_text().splitlines()) == len(TABLE)
    assert peak_bytes < MAX_BYTES
