"""Conversion of Excel workbooks to CSV: the first sheet that has cells."""

import csv
import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import Path

from python_calamine import CalamineError, CalamineWorkbook

from app.computations.uploads.column_names import check_width
from app.computations.uploads.compound_file import check_compound
from app.errors import InvalidInput

_COMPOUND_MAGIC = b"\xd0\xcf\x11\xe0"
"""First bytes of a compound file: a workbook of before 2007, or one with a password."""
_MAX_EXACT_INTEGER = 1e15
"""Numbers below it are written without a decimal point where they are whole: a double holds them exactly."""


def sheet_as_csv(path: Path, work: Path) -> tuple[Path, dict[str, object], list[str]]:
    """Write the first sheet with cells as CSV; return it with its format and notes.

    Raises InvalidInput for a workbook that is damaged, locked or empty.
    """
    with path.open("rb") as file:
        is_compound = file.read(len(_COMPOUND_MAGIC)) == _COMPOUND_MAGIC
    if is_compound:
        check_compound(path)
    try:
        workbook = CalamineWorkbook.from_path(str(path))
        for sheet in workbook.sheet_names:
            target = work / "sheet.csv"
            if _write_rows(target, workbook.get_sheet_by_name(sheet).iter_rows()):
                others = [other for other in workbook.sheet_names if other != sheet]
                notes = [f"Only the sheet {sheet} was read, not {', '.join(others[:10])}."] if others else []
                return target, {"kind": "excel", "sheet": sheet}, notes
    except (CalamineError, OSError, ValueError) as error:
        raise InvalidInput("damaged_file", f"The Excel file cannot be read: {error}") from error
    except BaseException as error:
        # A panic of the reader, which is written in Rust: its type cannot be imported, and is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise InvalidInput(
            "damaged_file", "The Excel file is damaged: open it in Excel and save it again."
        ) from error
    raise InvalidInput("empty_file", "The Excel file has no cells.")


def _write_rows(target: Path, rows: Iterable[Sequence[object]]) -> bool:
    """Write rows as CSV, from the first filled one on. Returns false for a sheet without cells."""
    has_rows = False
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            check_width(len(row))
            cells = [_cell_text(cell) for cell in row]
            if any(cells) or has_rows:
                writer.writerow(cells)
                has_rows = True
    return has_rows


def _cell_text(cell: object) -> str:
    """Return a cell as CSV has it: yes/no in words, times in ISO 8601, whole numbers without `.0`."""
    match cell:
        case bool():
            return "true" if cell else "false"
        case float():
            return str(int(cell)) if cell.is_integer() and abs(cell) < _MAX_EXACT_INTEGER else repr(cell)
        case dt.datetime() | dt.date():
            return cell.isoformat(sep=" ") if isinstance(cell, dt.datetime) else cell.isoformat()
        case _:
            return str(cell).replace("\x00", "")
