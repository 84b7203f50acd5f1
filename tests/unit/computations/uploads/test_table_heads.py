"""Line breaks in titles and headers of delimited files and of sheets cost no row."""

from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import TREES, Rows, as_csv, as_workbook, upload

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import convert
from app.errors import InvalidInput

BROKEN_HEADERS: dict[str, Rows] = {
    "first name": [["tree\nname", "age", "height"]],
    "last name": [["tree", "age", "height\n(m)"]],
    "every name": [["tree\nname", "age\n\nyears", "height\n(m)"]],
    "title and name": [["Trees of\nthe park", "", ""], ["tree", "age\nyears", "height"]],
    "name above units": [["tree\nname", "age", "height"], ["", "years", "m"]],
}


@pytest.mark.parametrize("case", BROKEN_HEADERS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_breaks_in_a_header_cost_no_row(case: str, newline: str, tmp_path: Path) -> None:
    names = [name.replace("\n\n", " ").replace("\n", " ") for name in BROKEN_HEADERS[case][-1]]
    names = ["tree name", "age", "height"] if case == "name above units" else names
    table, _ = upload(tmp_path / "csv", as_csv([*BROKEN_HEADERS[case], *TREES], ";", newline))
    assert list(table.columns) == names
    assert table.iloc[:, 0].tolist() == [row[0] for row in TREES]
    sheet, _ = upload(tmp_path / "xlsx", as_workbook(("S", [*BROKEN_HEADERS[case], *TREES])), "trees.xlsx")
    assert list(sheet.columns) == names
    assert len(sheet) == len(TREES)


def test_a_header_with_line_ends_of_its_own_costs_no_row(tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", b"tree,age\n" + as_csv([row[:2] for row in TREES], newline="\r\n"))
    assert table["tree"].tolist() == [row[0] for row in TREES]


def test_a_faulty_row_below_a_broken_header_is_named_by_its_line(tmp_path: Path) -> None:
    content = b'Trees\n\n"tree\nname",age,height\noak,1,2\nash,1,2\nelm,1,2,3\n'
    (tmp_path / "upload").write_bytes(content)
    with pytest.raises(InvalidInput, match="Line 7 has more than the 3 fields"):
        convert(CellWorkspace({"upload": tmp_path / "upload"}, tmp_path), "table.csv")
