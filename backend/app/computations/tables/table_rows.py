"""Rows of a table by sort, filter and search, page by page, in a cell that stays for the next page.

Parquet gives neighbours fast, and rows from all over a file slowly: it has to unpack most of it. So the cell
keeps the numbers of the selected rows in their order, and the table itself once rows from all over are wanted.
Measured with 5,000,000 rows of 12 columns and one thread: neighbours 45 ms, 100 scattered rows 700 ms from
Parquet and 20 ms from the loaded table, which takes 2.1 s once and 370 MB; an order takes 0.5 to 3.3 s once.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.query import fetch_json_rows
from app.computations.tables.open_table import OpenTable
from app.computations.tables.row_conditions import QueryColumn, column_of
from app.computations.tables.table_selection import Selection
from app.errors import TooLarge
from app.json_types import JsonValue

MAX_LOADED_CELLS = 100_000_000
"""Rows times columns of a table that is loaded: 620 MB at the 6 bytes a cell that were measured."""
_MAX_SCATTERED_GROUPS = 4
"""Row groups that a page may touch in Parquet, at 20 ms each, before the table is loaded: a jump has 300 ms."""
_GROUP_ROWS = 122_880
"""Rows of a row group, DuckDB's default."""
_MAX_ORDERS = 4
"""Orders that are kept, 20 MB each at 5 million rows: those between which somebody goes back and forth."""

_FILE_ROW = "file_row_number"
"""DuckDB's column with the place in a file. A table with a column of that name is loaded at once."""

Numbers = npt.NDArray[np.integer]


def read_page(
    workspace: CellWorkspace,
    limit: int = 20,
    offset: int = 0,
    columns: Sequence[str] = (),
    **selection: Any,
) -> dict[str, JsonValue]:
    """Read rows of the input `table`: `{"columns", "rows", "offset", "total", "matching"}`.

    `columns`: those to read, in this order; empty for all. `selection`: as `Selection.from_json`; without it,
    all rows in file order. Raises InvalidInput for an unknown column, and TooLarge if the selection needs more
    memory and disk than a cell has.
    """
    selected = Selection.from_json(selection)
    table = _open_rows(workspace.inputs["table"], workspace.output, workspace.threads)
    read = {name: column_of(name, table.columns).type for name in columns or table.columns}
    try:
        numbers = None if selected.is_whole_table and not selected.sort else table.select(selected)
        rows = table.read([*read], numbers, offset, limit)
    except duckdb.OutOfMemoryException as error:
        raise TooLarge("query_too_large", "This table is too large to be put in order here.") from error
    return {
        "columns": [{"name": name, "type": type_} for name, type_ in read.items()],
        "rows": rows,
        "offset": offset,
        "total": table.total,
        "matching": table.total if numbers is None else len(numbers),
    }


@lru_cache(maxsize=1)
def _open_rows(path: Path, output: Path, threads: int) -> "TableRows":
    """Open the table once for all requests that one cell serves: inputs do not change."""
    return TableRows(OpenTable(CellWorkspace({"table": path}, output, threads)))


class TableRows:
    """A table with the orders of its rows that were selected before. `columns` and `total`: as of OpenTable."""

    def __init__(self, table: OpenTable) -> None:
        self._table = table  # its database is open as long as something refers to it
        self._database, self.total = table.database, table.total
        self.columns = self._columns = table.columns
        self._orders: OrderedDict[Selection, Numbers] = OrderedDict()
        self._is_loaded = False
        self._fits = self.total * len(self.columns) <= MAX_LOADED_CELLS
        self._source, self._row = f"{table.file} AS file", ""
        if _FILE_ROW in (name.lower() for name in self.columns):
            self._load()
        else:
            self._source = f"read_parquet({table.path}, {_FILE_ROW} = true) AS file"
            self._row = f"file.{_FILE_ROW}"

    def select(self, selection: Selection) -> Numbers:
        """Return the numbers of the selected rows in their order, from 0."""
        if selection in self._orders:
            self._orders.move_to_end(selection)
            return self._orders[selection]
        if selection.sort and self.total > _MAX_SCATTERED_GROUPS * _GROUP_ROWS:
            self._load_if_it_fits()  # now, while somebody waits for the sort, and not at the first jump
        where, values = selection.where(self._columns)
        order = selection.order_by(self._columns, self._row)
        query = f"SELECT {self._row} FROM {self._source} {where} {order}"  # noqa: S608 - quoted
        (numbers,) = self._database.execute(query, values).fetchnumpy().values()
        self._orders[selection] = np.asarray(numbers, dtype=np.int32 if self.total < 1 << 31 else np.int64)
        if len(self._orders) > _MAX_ORDERS:
            self._orders.popitem(last=False)
        return self._orders[selection]

    def read(self, names: Sequence[str], numbers: Numbers | None, offset: int, limit: int) -> list[JsonValue]:
        """Return cells of columns in rows from `offset` on; `numbers` is None for the order of the file."""
        if numbers is None:
            last = min(offset + limit, self.total)
            return self._fetch(names, f"{self._row} >= {offset} AND {self._row} < {last}", self._row, limit)
        page = numbers[offset : offset + limit]
        if not len(page):
            return self._fetch(names, "false", self._row, limit)
        if len(np.unique(page // _GROUP_ROWS)) > _MAX_SCATTERED_GROUPS:
            self._load_if_it_fits()
        numbers_sql = ", ".join(map(str, page))
        return self._fetch(
            names, f"{self._row} IN ({numbers_sql})", f"list_position([{numbers_sql}], {self._row})", limit
        )

    def _fetch(self, names: Sequence[str], condition: str, order: str, limit: int) -> list[JsonValue]:
        columns = ", ".join(column_of(name, self._columns).sql for name in names)
        query = f"SELECT {columns} FROM {self._source} WHERE {condition} ORDER BY {order}"  # noqa: S608 - quoted
        return fetch_json_rows(self._database.execute(query), limit)[1]

    def _load_if_it_fits(self) -> None:
        if self._fits and not self._is_loaded:
            try:
                self._load()
            except duckdb.OutOfMemoryException:
                self._fits = False  # its cells are larger than most; pages come from Parquet

    def _load(self) -> None:
        """Load the table, whose rows are then found by number without unpacking their neighbours."""
        # Names of our own: a column of the user's may be called `rowid`, which names the place of a row here.
        columns = {
            name: QueryColumn(f"c{n}", column.type) for n, (name, column) in enumerate(self._columns.items())
        }
        pairs = zip(self._columns.values(), columns.values(), strict=True)
        renamed = ", ".join(f"{old.sql} AS {new.sql}" for old, new in pairs)
        self._database.execute(f"CREATE TABLE loaded AS SELECT {renamed} FROM {self._source}")  # noqa: S608 - quoted
        self._columns, self._source, self._row = columns, "loaded", "loaded.rowid"
        self._is_loaded = True
