"""A table as a file of delimited text, every cell whole, for spreadsheets and programs."""

from collections.abc import Iterator, Mapping

import duckdb

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.tables.open_table import OpenTable
from app.computations.tables.row_conditions import QueryColumn
from app.computations.uploads import sql
from app.errors import TooLarge
from app.json_types import JsonValue
from app.plans.identifiers import quote_identifier

FILE = "table.csv"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters at which a spreadsheet takes a text for a formula and carries it out, by OWASP's list.

The last four are the first ones in full width, which spreadsheets of East Asian languages read alike.
"""


def write_csv(workspace: CellWorkspace, separator: str = ",") -> dict[str, JsonValue]:
    """Write the rows of the input `table` to `table.csv`, and return their number as `{"rows"}`.

    Texts and names that a spreadsheet would carry out as formulas get an apostrophe before them; numbers, and
    texts that are numbers, stay as they are. Raises TooLarge if the cell has too little memory for it.
    """
    table = OpenTable(workspace)
    columns = ", ".join(_cells(table.columns))
    rows = f"SELECT {columns} FROM {table.file}"  # noqa: S608 - quoted
    options = f"FORMAT csv, HEADER true, DELIMITER {sql.text(separator)}"
    try:
        table.database.execute(f"COPY ({rows}) TO {sql.text(workspace.output / FILE)} ({options})")
    except duckdb.OutOfMemoryException as error:
        raise TooLarge("table_too_large", "This table is too large to be written as text.") from error
    return {"rows": table.total}


def _cells(columns: Mapping[str, QueryColumn]) -> Iterator[str]:
    for name, column in columns.items():
        label = quote_identifier(f"'{name}" if name.startswith(_FORMULA_STARTS) else name)
        yield f"{_spreadsheet_safe(column.sql) if column.type == 'text' else column.sql} AS {label}"


def _spreadsheet_safe(column: str) -> str:
    text = f"CAST({column} AS VARCHAR)"
    starts = ", ".join(f"chr({ord(sign)})" for sign in _FORMULA_STARTS)
    is_formula = f"left({text}, 1) IN ({starts}) AND TRY_CAST({text} AS DOUBLE) IS NULL"
    return f"CASE WHEN {is_formula} THEN concat('''', {text}) ELSE {text} END"
