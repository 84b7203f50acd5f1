"""DuckDB as a converter of files: quoting, a connection of its own, columns as plain types."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

Column = dict[str, str]
"""`{"name", "type"}`; type is integer, number, boolean, text or datetime."""


@dataclass(frozen=True)
class Table:
    """A table on its way to Parquet: the `select` that reads it, its columns, and what was sniffed."""

    select: str
    columns: list[Column]
    format: dict[str, object]
    notes: tuple[str, ...] = ()


def name(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str | Path) -> str:
    return "'" + str(value).replace("'", "''") + "'"


@contextmanager
def connect(work: Path, threads: int, memory_bytes: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that spills into `work` and fetches no extension."""
    connection = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": f"{memory_bytes}B",
            "temp_directory": str(work / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()
