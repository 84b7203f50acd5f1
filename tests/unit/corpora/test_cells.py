"""Structure of the corpus of cells: format, halves, and cells that stand in the files."""

from typing import get_args

import pytest
from pydantic import ValidationError
from tests.corpora.cells import CELLS_DIRECTORY, Alternative, CellColumn, CellFile, Convention, load_cells
from tests.corpora.files import read_raw_table
from tests.corpora.tables import Half, half_of

HALVES: tuple[Half, ...] = get_args(Half)
# Counts that have landed, so that a file that is lost is noticed: raised when files are added.
MIN_FILES: dict[Half, int] = {"tuned": 24, "untuned": 24}
MIN_ROWS, MAX_ROWS = 20, 60


def check_column(column: CellColumn, texts: list[str]) -> None:
    """Compare a judgement with the texts of its column."""
    rows = [cell.row for cell in column.cells]
    assert len(set(rows)) == len(rows), column.name
    for cell in column.cells:
        assert texts[cell.row - 1] == cell.text, (column.name, cell.row)
    assert column.missing == sorted(set(column.missing)), column.name
    assert all(1 <= row <= len(texts) for row in column.missing), column.name
    empty = {row for row, text in enumerate(texts, start=1) if not text.strip()}
    assert empty <= set(column.missing), column.name
    if column.missing:
        assert set(column.missing) & set(rows), (column.name, "no missing cell is chosen")


@pytest.mark.parametrize("half", HALVES)
def test_files_are_valid(half: Half) -> None:
    files = load_cells(half)
    assert [file.id for file in files] == sorted(p.stem for p in (CELLS_DIRECTORY / half).glob("*.json"))
    for file in files:
        assert half_of(file.id) == half, file.id
        raw = read_raw_table(CELLS_DIRECTORY / half / f"{file.id}.csv", file.form)
        assert MIN_ROWS <= len(raw.rows) <= MAX_ROWS, file.id
        assert [column.name for column in file.columns] == raw.header, file.id
        for index, column in enumerate(file.columns):
            check_column(column, [row[index] for row in raw.rows])


@pytest.mark.parametrize("half", HALVES)
def test_halves_keep_their_counts(half: Half) -> None:
    assert len(load_cells(half)) >= MIN_FILES[half]


@pytest.mark.parametrize("half", HALVES)
def test_files_and_judgements_come_in_pairs(half: Half) -> None:
    paths = [path for path in CELLS_DIRECTORY.rglob("*") if path.is_file()]
    assert {path.parent.name for path in paths} <= set(HALVES)
    stems = {
        suffix: sorted(path.stem for path in paths if path.suffix == suffix and path.parent.name == half)
        for suffix in (".json", ".csv")
    }
    assert stems[".json"] == stems[".csv"]
    assert all(path.suffix in stems for path in paths)


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        CellFile.model_validate({"id": "a", "source": {"made": "shop"}, "title": "A", "surplus": 1})


def test_certain_column_with_alternatives_is_refused() -> None:
    cells = [{"row": row, "text": "1.500", "value": 1500} for row in (1, 2, 3)]
    other = Alternative(kind="number", convention=Convention(decimal="."), values=[1.5] * 3, reason="a point")
    with pytest.raises(ValidationError, match="ambiguous"):
        CellColumn.model_validate(
            {"name": "sum", "kind": "number", "evidence": "none", "cells": cells, "alternatives": [other]}
        )


@pytest.mark.parametrize(("kind", "value"), [("date", "03.06.2010"), ("number", "49,05"), ("boolean", "yes")])
def test_value_that_is_not_canonical_is_refused(kind: str, value: str) -> None:
    cells = [{"row": row, "text": value, "value": value} for row in (1, 2, 3)]
    with pytest.raises(ValidationError, match="canonical"):
        CellColumn.model_validate({"name": "a", "kind": kind, "evidence": "none", "cells": cells})
