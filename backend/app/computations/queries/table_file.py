"""Rows of a query as a file that spreadsheets and other programs open: CSV, Excel, JSON or Parquet."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
from app.errors import TooLarge
from app.json_types import JsonValue

MAX_SHEET_ROWS = 1_048_575
"""Rows of a sheet of Excel below its header, by the format's own limit."""
_BATCH_ROWS = 10_000
"""Rows that are held in memory at a time: 10,000 of 100 columns take some 100 MB."""


def write(workspace: CellWorkspace, name: str) -> dict[str, JsonValue]:
    """Write the rows of the input `rows` as a file `name`, whose ending says its format.

    Returns `"rows"`, their number. Raises TooLarge for more rows than the format holds.
    """
    target = workspace.output / name
    source = f"read_parquet({sql.text(workspace.inputs['rows'])})"
    with duckdb.connect() as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {source}").fetchone() or (0,)  # noqa: S608 - quoted
        _WRITERS[target.suffix.casefold()](connection, source, target)
    return {"rows": int(count)}


def _copy(options: str) -> Callable[[duckdb.DuckDBPyConnection, str, Path], None]:
    def copy(connection: duckdb.DuckDBPyConnection, source: str, target: Path) -> None:
        connection.execute(f"COPY (SELECT * FROM {source}) TO {sql.text(target)} ({options})")  # noqa: S608 - quoted

    return copy


def _write_sheet(connection: duckdb.DuckDBPyConnection, source: str, target: Path) -> None:
    rows = connection.execute(f"SELECT * FROM {source}")  # noqa: S608 - quoted
    book = Workbook(write_only=True)
    sheet = book.create_sheet("rows")
    sheet.append([_text_cell(sheet, str(column[0])) for column in rows.description or ()])
    row_count = 0
    while batch := rows.fetchmany(_BATCH_ROWS):
        row_count += len(batch)
        if row_count > MAX_SHEET_ROWS:
            raise TooLarge(
                "result_too_large",
                f"A sheet of Excel holds {MAX_SHEET_ROWS:,} rows. Save the table as CSV or Parquet.",
                limit_rows=MAX_SHEET_ROWS,
            )
        for row in batch:
            sheet.append([_text_cell(sheet, cell) if isinstance(cell, str) else cell for cell in row])
    book.save(target)


def _text_cell(sheet: Any, text: str) -> WriteOnlyCell:
    """A cell of text. By itself the library takes text that begins with `=` for a formula, which Excel runs."""
    cell = WriteOnlyCell(sheet)
    cell.value = text
    cell.data_type = "s"
    return cell


_WRITERS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, str, Path], None]] = {
    ".csv": _copy("FORMAT csv, HEADER true"),
    ".tsv": _copy("FORMAT csv, HEADER true, DELIMITER '\t'"),
    ".json": _copy("FORMAT json, ARRAY true"),
    ".parquet": _copy("FORMAT parquet, COMPRESSION zstd"),
    ".xlsx": _write_sheet,
}
"""Writers of the formats of `file_formats.ENDINGS`."""
