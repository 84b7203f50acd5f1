"""A Parquet file that a cell keeps open, with its columns as the API types them."""

from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.tables.row_conditions import QueryColumn
from app.computations.uploads import sql
from app.computations.uploads.profile import TYPES
from app.plans.identifiers import quote_identifier

_MEMORY_BYTES = 768 << 20
"""Memory of DuckDB; what does not fit is written to the cell's disk."""
_FAMILIES = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT"), "integer"
    ),
    **dict.fromkeys(("FLOAT", "DECIMAL"), "number"),
    **dict.fromkeys(("DATE", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "datetime"),
}
"""Further types of tables that programs wrote; uploads have those of `profile.TYPES` and texts."""


class OpenTable:
    """A table in a database of its own, until the cell ends or nothing refers to it.

    `columns`: by name, in file order. `total`: number of its rows. `path`: quoted for SQL. `file`: SQL that
    reads the file.
    """

    def __init__(self, workspace: CellWorkspace) -> None:
        self.path = sql.text(workspace.inputs["table"])
        self.file = f"read_parquet({self.path})"
        self._open = ExitStack()
        self.database = self._open.enter_context(sql.connect(workspace, workspace.output, _MEMORY_BYTES))
        described = self.database.execute(f"DESCRIBE SELECT * FROM {self.file}").fetchall()  # noqa: S608 - quoted
        self.columns = {
            str(name): QueryColumn(quote_identifier(name), _type_of(str(kind))) for name, kind, *_ in described
        }
        ((total,),) = self.database.execute(f"SELECT count(*) FROM {self.file}").fetchall()  # noqa: S608 - quoted
        self.total = int(total)


@lru_cache(maxsize=1)
def _open_once(path: Path, output: Path, threads: int) -> OpenTable:
    return OpenTable(CellWorkspace({"table": path}, output, threads))


def open_table(workspace: CellWorkspace) -> OpenTable:
    """Open the input `table`, once for all requests that one cell serves: inputs do not change."""
    return _open_once(workspace.inputs["table"], workspace.output, workspace.threads)


def _type_of(kind: str) -> str:
    """Return the type, as `uploads.sql.Column` has it, of a column of DuckDB's type `kind`."""
    family = kind.partition("(")[0].partition(" WITH ")[0]
    return TYPES.get(family) or _FAMILIES.get(family, "text")
