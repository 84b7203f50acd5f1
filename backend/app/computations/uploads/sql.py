"""DuckDB as a converter of files: texts in SQL, a connection of its own, columns as plain types."""

import string
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from app.computations.cell_files.workspace import CellWorkspace

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


def text(value: str | Path) -> str:
    """Quote a text, or a path, as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"


def trim(cell: str) -> str:
    """SQL of a text without surrounding white space. DuckDB's default is spaces only, but takes a third of the
    time: use it for columns of typed values."""
    return f"trim({cell}, {text(string.whitespace)})"


_prepared: list[duckdb.DuckDBPyConnection] = []
"""Databases without a user, each for one `connect` of this process or of a fork of it."""


_finished: list[duckdb.DuckDBPyConnection] = []
"""The database of the last `connect` that has ended, which the next one closes. To free what a query buffered
takes up to ten milliseconds, and most cells end here: the kernel frees it when nobody waits."""


PREPARED_DATABASES = 2
"""Databases that a cell needs at most without opening one: an upload converts with one, and profiles with the
other, so that neither has what the other buffered."""


def prepare_databases() -> None:
    """Open databases that the first `connect` of this process, and of each of its forks, takes.

    A zygote calls it before it forks: opening a database takes twenty milliseconds in a fork, more than most
    queries. A fork is sound since a database has no threads and no files.
    """
    _close_finished()
    while len(_prepared) < PREPARED_DATABASES:
        database = _open_database()
        # The parser that serializes a query for the policy sets itself up at its first use.
        database.execute("SELECT json_serialize_sql('SELECT 1')").fetchall()
        _prepared.append(database)


def _open_database() -> duckdb.DuckDBPyConnection:
    """Open a database in memory that fetches no extension and computes in the thread that calls it.

    Without its eight threads for reading ahead: files are local, and a cell's threads are counted.
    """
    return duckdb.connect(
        config={
            "threads": 1,
            "async_threads": 0,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )


@contextmanager
def connect(
    workspace: CellWorkspace, work: Path, memory_bytes: int, target: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills into `work`, fetches no extension and reaches no other file.

    It reads the inputs and writes `target`, or any file of the output folder without one. No statement opens it
    further, because some cells run without kernel isolation.
    """
    # Before the next is filled: two at once would need twice the memory.
    _close_finished()
    database = _prepared.pop() if _prepared else _open_database()
    try:
        # A connection of its own: its random numbers are seeded here, and not where the database was opened.
        with database.cursor() as connection:
            _configure(connection, workspace, work, memory_bytes)
            _restrict(connection, workspace, target)
            yield connection
    except duckdb.OutOfMemoryException as error:
        # A limit of the cell, not a fault of the file that needed it: the cell's end says so.
        raise MemoryError(str(error)) from error
    finally:
        _finished.append(database)


def _close_finished() -> None:
    while _finished:
        _finished.pop().close()


def _configure(
    connection: duckdb.DuckDBPyConnection, workspace: CellWorkspace, work: Path, memory_bytes: int
) -> None:
    change_settings(
        connection,
        f"threads = {workspace.threads}",
        f"memory_limit = '{memory_bytes}B'",
        f"temp_directory = {text(work / 'spill')}",
        # Conversions must not depend on where the machine stands.
        "TimeZone = 'UTC'",
    )


def _restrict(connection: duckdb.DuckDBPyConnection, workspace: CellWorkspace, target: Path | None) -> None:
    files = ", ".join(text(path) for path in (*workspace.inputs.values(), *([target] if target else [])))
    folders = "" if target else text(workspace.output)
    change_settings(
        connection,
        f"allowed_paths = [{files}]",
        f"allowed_directories = [{folders}]",
        # After the paths, which cannot be allowed any more once access is off.
        "enable_external_access = false",
        # A name in SQL must not find a variable of this process.
        "python_enable_replacements = false",
        "allow_community_extensions = false",
    )


def change_settings(connection: duckdb.DuckDBPyConnection, *settings: str) -> None:
    """Change settings in order, all in one text: each text of its own takes 0.2 ms in a new cell."""
    connection.execute(" ".join(f"SET {setting};" for setting in settings))
