"""DuckDB as a converter of files: quoting, a connection of its own, columns as plain types."""

import string
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from app.computations.workspace import CellWorkspace

Column = dict[str, str]
"""`{"name", "type"}`; type is integer, number, boolean, text or datetime."""


@dataclass(frozen=True)
class SourceTable:
    """A table of an upload: the `select` that reads it, its columns, the facts of its format, and notes."""

    select: str
    columns: list[Column]
    format: dict[str, object]
    notes: tuple[str, ...] = ()
    cells: str = ""
    """SQL of the columns that have a second reading, as written; empty if there are none."""


def name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def trim(cell: str) -> str:
    """SQL of a text without surrounding white space. DuckDB's default is spaces only, but takes a third of the
    time: use it for columns of typed values."""
    return f"trim({cell}, {text(string.whitespace)})"


@contextmanager
def connect(
    workspace: CellWorkspace, work: Path, memory_bytes: int, target: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills into `work`, fetches no extension and reaches no other file.

    It reads the inputs and writes `target`, or any file of the output folder without one. No statement opens it
    further, because some cells run without kernel isolation.
    """
    connection = duckdb.connect(
        config={
            "threads": workspace.threads,
            "memory_limit": f"{memory_bytes}B",
            "temp_directory": str(work / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        _restrict(connection, workspace, target)
        yield connection
    finally:
        connection.close()


def _restrict(connection: duckdb.DuckDBPyConnection, workspace: CellWorkspace, target: Path | None) -> None:
    files = ", ".join(text(path) for path in (*workspace.inputs.values(), *([target] if target else [])))
    folders = "" if target else text(workspace.output)
    for setting in (
        f"allowed_paths = [{files}]",
        f"allowed_directories = [{folders}]",
        "enable_external_access = false",
        "python_enable_replacements = false",
        "allow_community_extensions = false",
    ):
        connection.execute(f"SET {setting}")
