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
MAX_SHOWN_SHEETS = 10
"""Names of sheets that a note lists."""
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
        tables = choose_sheets([_measure(workbook, name) for name in names[:MAX_JUDGED_SHEETS]])
        if tables:
            target = work / "sheet.csv"
            _write_sheets(target, [(shape, _filled_rows(workbook, shape.name)) for shape in tables])
            table_names = [shape.name for shape in tables]
            others = [name for name in workbook.sheet_names if name not in set(table_names)]
            notes = [*_describe_choice(table_names, others), *_describe_titles(tables)]
            return target, {"kind": "excel", "sheet": ", ".join(table_names)}, notes
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
        notes = [f"The sheets {_list_names(table_names)} have one header; {SHEET_COLUMN} names each row's."]
        return notes + ([f"Not read: {_list_names(others)}."] if others else [])
    return [f"Only the sheet {table_names[0]} was read, not {_list_names(others)}."] if others else []


def _list_names(names: Sequence[str]) -> str:
    rest = f" and {len(names) - MAX_SHOWN_SHEETS:,} more" if len(names) > MAX_SHOWN_SHEETS else ""
    return ", ".join(names[:MAX_SHOWN_SHEETS]) + rest


def _describe_titles(tables: Sequence[SheetShape]) -> list[str]:
    """Note titles above the headers of several sheets; those of one sheet are noted where it is read."""
    title = next((shape.title for shape in tables if shape.lead), "")
    return (
        [f"Lines above the headers are left out, for example {title!r}."] if len(tables) > 1 and title else []
    )


def _filled_rows(workbook: CalamineWorkbook, name: str) -> Iterator[list[str]]:
    """Rows as texts, from the first filled one on; a label of merged rows stands in each of them."""
    sheet = workbook.get_sheet_by_name(name)
    starts = _label_starts(sheet)
    has_rows = False
    # Those that reach the current row only: a workbook of a few kilobytes may merge millions of cells.
    labels: dict[int, tuple[int, str]] = {}
    for place, row in enumerate(sheet.iter_rows()):
        check_width(len(row))
        cells = [_cell_text(cell) for cell in row]
        labels |= {column: (last, cells[column]) for column, last in starts.get(place, ())}
        labels = {column: label for column, label in labels.items() if label[0] >= place}
        for column, (_, label) in labels.items():
            cells[column] = cells[column] or label
        if any(cells) or has_rows:
            has_rows = True
            yield cells


def _label_starts(sheet: CalamineSheet) -> dict[int, list[tuple[int, int]]]:
    """First row -> column and last row of each merged cell there that is one column wide."""
    starts: dict[int, list[tuple[int, int]]] = {}
    # The reader counts rows of the sheet, of which the first empty ones are no rows here.
    top, margin = sheet.start or (0, 0)
    for (first, column), (last, last_column) in sheet.merged_cell_ranges or ():
        is_inside = 0 <= first - top < sheet.height and 0 <= column - margin < sheet.width
        if is_inside and column == last_column and last - first < MAX_MERGED_ROWS:
            starts.setdefault(first - top, []).append((column - margin, last - top))
    return starts


def _write_sheets(target: Path, sheets: Sequence[tuple[SheetShape, Iterable[list[str]]]]) -> None:
    """Write the rows of one sheet, or those of several below one header, each with the name of its sheet."""
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if len(sheets) == 1:
            writer.writerows(sheets[0][1])
            return
        writer.writerow([SHEET_COLUMN, *sheets[0][0].header])
        for shape, rows in sheets:
            for row in itertools.islice(rows, shape.lead + 1, None):
                writer.writerow([shape.name, *row])


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
