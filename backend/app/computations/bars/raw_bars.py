"""Conversion of an upload to a Parquet file of raw bars, good or bad, in file order.

Its columns: `coin` (NULL if invalid), `ts` (microseconds since 1970), open, high, low, close, volume.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import duckdb

from app.computations.bars.columns import (
    ColumnMapping,
    are_unnamed,
    find_columns,
    find_interval_column,
    list_column_orders,
)
from app.computations.bars.copy_records import MEASURES
from app.computations.bars.timestamps import coin_sql, has_decimal_comma, measure_sql, time_sql
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
from app.computations.uploads.ingest import read_upload
from app.errors import InvalidInput
from app.plans.identifiers import quote_identifier

_PROBE_ROWS = 2_000
"""First rows by which column orders and decimal marks are inferred."""
_MAX_INTERVALS = 4
"""Intervals that an error lists."""
_IRRELEVANT_NOTES = (
    r"^Column \d+ has no name|: numbers with thousands separators are kept",
    r": a comma may be a decimal or a thousands mark|: not only numbers",
)
"""Notes on tables that do not apply to bars; the second only if the decimal mark is known."""
_ROW_GROUP_ROWS = 122_880
# Without the limit DuckDB spends a fifth of the total time on a dictionary of prices, which hardly repeat.
_WRITING = (
    f"(FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE {_ROW_GROUP_ROWS}, DICTIONARY_SIZE_LIMIT 1000)"
)


@dataclass(frozen=True)
class RawBars:
    """Raw bars in a Parquet file. `columns`: our columns -> the file's."""

    path: Path
    rows: int
    format: dict[str, Any]
    columns: dict[str, str]
    notes: list[str]


@dataclass(frozen=True)
class SourceOptions:
    """The sender's options: the coin of a file without a coin column, and the time zone of its times."""

    coin: str | None = None
    zone: str | None = None


def read_raw(
    connection: duckdb.DuckDBPyConnection,
    workspace: CellWorkspace,
    filename: str,
    expanded_bytes: int,
    source: SourceOptions,
) -> RawBars:
    """Read an upload as raw bars; raises InvalidInput if it is no table of bars."""
    if source.zone is not None:
        _check_zone(connection, source.zone)
    target = workspace.output / ".work" / "raw.parquet"
    mappings: list[ColumnMapping] = []

    def write(table: sql.SourceTable) -> int:
        types = {column["name"]: column["type"] for column in table.columns}
        mapping = _map_columns(connection, table, types, source)
        mappings[:] = [replace(mapping, comma=_has_commas(connection, table, types, mapping))]
        select = _select_sql(table, types, mappings[0], source)
        done = connection.execute(f"COPY ({select}) TO {sql.text(target)} {_WRITING}").fetchone()
        return int(done[0]) if done else 0

    table, rows, compression = read_upload(connection, workspace, filename, expanded_bytes, write)
    if not rows:
        raise InvalidInput("no_rows", "The file has columns but no rows.")
    columns = {column: name for column, name in mappings[0].names.items() if name}
    format_ = cast(dict[str, Any], {**table.format, "compression": compression})
    patterns = _IRRELEVANT_NOTES if mappings[0].comma else _IRRELEVANT_NOTES[:1]
    notes = [note for note in table.notes if not any(re.search(pattern, note) for pattern in patterns)]
    return RawBars(target, rows, format_, columns, [*notes, *mappings[0].notes])


def sort_rows(connection: duckdb.DuckDBPyConnection, raw: Path) -> Path:
    """Sort the rows by coin, time and row number in the file, which becomes `n`, counted from 1."""
    target = raw.with_name("ordered.parquet")
    source = f"read_parquet({sql.text(raw)}, file_row_number=true)"
    rows = f"SELECT * EXCLUDE (file_row_number), file_row_number + 1 AS n FROM {source}"  # noqa: S608
    connection.execute(f"COPY ({rows} ORDER BY coin, ts, n) TO {sql.text(target)} {_WRITING}")
    raw.unlink()
    return target


def _check_zone(connection: duckdb.DuckDBPyConnection, zone: str) -> None:
    row = connection.execute("SELECT count(*) FROM pg_timezone_names() WHERE name = ?", [zone]).fetchone()
    if not row or not row[0]:
        raise InvalidInput(
            "unknown_time_zone",
            f"{zone!r} is not a time zone; use a name such as America/New_York.",
            time_zone=zone,
        )


def _map_columns(
    connection: duckdb.DuckDBPyConnection, table: sql.SourceTable, types: dict[str, str], source: SourceOptions
) -> ColumnMapping:
    names = list(types)
    if not are_unnamed(names):
        _check_one_interval(connection, table, find_interval_column(names))
        return find_columns(names, source.coin)
    if source.coin is None:
        raise InvalidInput(
            "missing_columns",
            "The file has no column names, so the coin is unknown. Set it with `coin`.",
            missing=["coin"],
        )
    mappings = list_column_orders(names, types)
    shares = [_consistent_share(connection, table, types, mapping.names) for mapping in mappings]
    # Rounded, so that a few faulty rows do not prefer a rare order to the usual one.
    best = mappings[max(range(len(mappings)), key=lambda number: (round(shares[number], 2), -number))]
    positions = {column: names.index(name) for column, name in best.names.items() if name}
    order = ", ".join(sorted(positions, key=lambda column: positions[column]))
    return replace(best, notes=(f"The file has no column names; its columns are read as {order}.",))


def _check_one_interval(
    connection: duckdb.DuckDBPyConnection, table: sql.SourceTable, column: str | None
) -> None:
    """Check that the file has one interval: bars of several intervals cannot be told apart by row."""
    if column is None:
        return
    cell = f"CAST({quote_identifier(column)} AS VARCHAR)"
    rows = connection.execute(
        f"SELECT DISTINCT {cell} FROM ({table.select}) WHERE {cell} IS NOT NULL LIMIT {_MAX_INTERVALS}"  # noqa: S608
    ).fetchall()
    if len(rows) > 1:
        intervals = ", ".join(sorted(str(row[0])[:20] for row in rows))
        raise InvalidInput(
            "several_intervals",
            f"The file contains bars of several intervals in its column {column} ({intervals}, ...). "
            "Send one file per interval.",
            column=column,
        )


def _consistent_share(
    connection: duckdb.DuckDBPyConnection,
    table: sql.SourceTable,
    types: dict[str, str],
    names: Mapping[str, str],
) -> float:
    """Share of the first rows whose highs and lows are consistent."""
    cells = ", ".join(f"{measure_sql(types, names[name])} AS {name}" for name in MEASURES[:4])
    condition = "high >= greatest(open, close, low) AND low <= least(open, close)"
    row = connection.execute(
        f"SELECT avg(CASE WHEN {condition} THEN 1.0 ELSE 0 END)"  # noqa: S608
        f" FROM (SELECT {cells} FROM ({table.select} LIMIT {_PROBE_ROWS}))"
    ).fetchone()
    return float(row[0] or 0) if row else 0.0


def _has_commas(
    connection: duckdb.DuckDBPyConnection, table: sql.SourceTable, types: dict[str, str], mapping: ColumnMapping
) -> bool:
    """Return true if a comma is the decimal mark; only numbers in text columns can show it."""
    texts = [mapping.names[name] for name in MEASURES if types.get(mapping.names[name]) == "text"]
    if not texts:
        return False
    cells = " OR ".join(has_decimal_comma(quote_identifier(name)) for name in texts)
    row = connection.execute(
        f"SELECT bool_or({cells}) FROM (FROM ({table.select}) LIMIT {_PROBE_ROWS})"  # noqa: S608
    ).fetchone()
    return bool(row and row[0])


def _select_sql(
    table: sql.SourceTable, types: dict[str, str], mapping: ColumnMapping, source: SourceOptions
) -> str:
    names = mapping.names
    cells = [
        f"{coin_sql(names['coin'], source.coin)} AS coin",
        f"{time_sql(types, names['ts'], mapping.time, source.zone)} AS ts",
        *(f"{measure_sql(types, names[name], mapping.comma)} AS {name}" for name in MEASURES),
    ]
    return f"SELECT {', '.join(cells)} FROM ({table.select})"  # noqa: S608
