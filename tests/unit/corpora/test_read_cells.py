"""Tests of the judge of the corpus of cells on one file whose reading is known."""

import pytest
from tests.corpora.cells import CellFile, load_cells
from tests.corpora.read_cells import agree, read_cell_file


def _file(name: str) -> CellFile:
    return next(file for file in load_cells("tuned") if file.id == name)


def test_a_file_in_its_own_convention_is_right_in_every_aspect() -> None:
    read = read_cell_file("tuned", _file("payroll_lines"))
    assert read.rows[0] == read.rows[1]
    assert {column.judged.name: column.faults for column in read.columns if column.faults} == {}
    assert all(not row.wrong and not row.fault for row in read.predictions)


def test_a_wrong_value_a_wrong_kind_and_a_missing_row_are_named() -> None:
    document = _file("payroll_lines").model_dump()
    gross = next(column for column in document["columns"] if column["name"] == "Brutto")
    gross["cells"][0]["value"] = 1.0
    gross["missing"] = [len(_file("payroll_lines").columns[0].cells) + 20]
    tax = next(column for column in document["columns"] if column["name"] == "Pensum")
    tax["kind"], tax["accepted_kinds"] = "duration", []
    wrong = CellFile.model_validate(document)
    read = read_cell_file("tuned", wrong)
    faults = {column.judged.name: set(column.faults) for column in read.columns}
    assert faults["Brutto"] == {"values", "missing"}
    assert "kind" in faults["Pensum"]


@pytest.mark.parametrize(
    ("value", "wanted", "agrees"),
    [
        (1.0, 1, True),
        (1.0 + 1e-8, 1, False),
        (None, None, True),
        (None, 0, False),
        ("2024-03-30T19:00:00", "2024-03-30T20:00:00+01:00", True),
        ("2024-03-30T20:00:00", "2024-03-30T20:00:00+01:00", False),
        ("12", 12, False),
    ],
)
def test_values_agree_by_number_and_instant(value: object, wanted: object, agrees: bool) -> None:
    assert agree(value, wanted) is agrees  # type: ignore[arg-type]
