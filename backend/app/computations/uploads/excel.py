"""Conversion of Excel workbooks to CSV: the sheet that is its table, or all sheets of one header."""

import csv
import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from app.computations.uploads.column_names import check_width
from app.computations.uploads.compound_file import check_compound
from app.computations.uploads.sheet_choice import MAX_JUDGED_SHEETS, SheetShape, choose_sheets, measure_sheet
from app.errors import InvalidInput

_COMPOUND_MAGIC = b"\xd0\xcf\x11\xe0"
"""First bytes of a compound file: a workbook of before 2007, or one with a password."""
SHEET_COLUMN = "sheet"
"""Column of the names of sheets whose rows are one table."""
MAX_JUDGED_ROWS = 200
"""Rows by which a sheet is judged to be a table."""
MAX_MERGED_CELLS = 100_000
"""Merged cells of a sheet that are filled: each takes a few hundred bytes."""
MAX_MERGED_ROWS = 10_000
"""Rows of a merged cell that are filled: one over a complete sheet is no label."""
_MAX_EXACT_INTEGER = 1e15
"""Numbers below it are written without a decimal point where they are whole: a double holds them exactly."""


def sheet_as_csv(path: Path, work: Path) -> tuple[Path, dict[str, object], list[str]]:
    """Write the sheet that is the table, or sheets of one header, as CSV; return it with format and notes.

    Raises InvalidInput for a workbook that is damaged, locked or empty.
    """
    with path.open("rb") as file:
        is_compound = file.read(len(_COMPOUND_MAGIC)) == _COMPOUND_MAGIC
    if is_compound:
        check_compound(path)
    try:
        workbook = CalamineWorkbook.from_path(str(path))
        names = _visible_sheets(workbook)
        table_names = choose_sheets([_measure(workbook, name) for name in names[:MAX_JUDGED_SHEETS]])
        if table_names:
            target = work / "sheet.csv"
            _write_sheets(target, [(name, _filled_rows(workbook, name)) for name in table_names])
            others = [name for name in workbook.sheet_names if name not in table_names]
            return (
                target,
                {"kind": "excel", "sheet": ", ".join(table_names)},
                _describe_choice(table_names, others),
            )
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


def _visible_sheets(workbook: CalamineWorkbook) -> list[str]:
    """Names of the worksheets that are shown; of all of them if none is."""
    visible = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.visible == SheetVisibleEnum.Visible and sheet.typ == SheetTypeEnum.WorkSheet
    ]
    return visible or list(workbook.sheet_names)


def _measure(workbook: CalamineWorkbook, name: str) -> SheetShape:
    rows = list(itertools.islice(workbook.get_sheet_by_name(name).iter_rows(), MAX_JUDGED_ROWS))
    for row in rows[:1]:
        check_width(len(row))
    return measure_sheet(name, rows, _cell_text)


def _describe_choice(table_names: Sequence[str], others: Sequence[str]) -> list[str]:
    if len(table_names) > 1:
        notes = [f"The sheets {', '.join(table_names[:10])} have one header; {SHEET_COLUMN} names each row's."]
        return notes + ([f"Not read: {', '.join(others[:10])}."] if others else [])
    return [f"Only the sheet {table_names[0]} was read, not {', '.join(others[:10])}."] if others else []


def _filled_rows(workbook: CalamineWorkbook, name: str) -> Iterator[list[str]]:
    """Rows as texts, from the first filled one on; a label of merged rows stands in each of them."""
    sheet = workbook.get_sheet_by_name(name)
    labels = _merged_labels(sheet)
    has_rows = False
    current: dict[int, str] = {}
    for place, row in enumerate(sheet.iter_rows()):
        check_width(len(row))
        cells = [_cell_text(cell) for cell in row]
        for column, start in labels.get(place, {}).items():
            if column < len(cells):
                current[column] = cells[column] if place == start else current.get(column, "")
                cells[column] = cells[column] or current[column]
        if any(cells) or has_rows:
            has_rows = True
            yield cells


def _merged_labels(sheet: CalamineSheet) -> dict[int, dict[int, int]]:
    """Row -> column -> first row of the merged cell there, if it is one column wide."""
    labels: dict[int, dict[int, int]] = {}
    # The reader counts rows of the sheet, of which the first empty ones are no rows here.
    top, first_column = sheet.start or (0, 0)
    for (first, column), (last, last_column) in (sheet.merged_cell_ranges or [])[:MAX_MERGED_CELLS]:
        if column == last_column and last - first < MAX_MERGED_ROWS:
            for row in range(first, last + 1):
                labels.setdefault(row - top, {})[column - first_column] = first - top
    return labels


def _write_sheets(target: Path, sheets: Sequence[tuple[str, Iterable[list[str]]]]) -> None:
    """Write the rows of one sheet, or those of several below one header, each with the name of its sheet."""
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, (name, rows) in enumerate(sheets):
            if len(sheets) == 1:
                writer.writerows(rows)
                continue
            for place, row in enumerate(rows):
                if place or not number:
                    writer.writerow([name if place else SHEET_COLUMN, *row])


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
