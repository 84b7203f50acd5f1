"""From an upload to a Parquet file of raw bars: what each row says, good or bad, in file order.

Its columns: `coin` (NULL where it is none), `ts` (microseconds since 1970), open, high, low, close, volume.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import duckdb

from app.computations.bars.columns import Found, are_unnamed, find_columns, interval_column, orders
from app.computations.bars.record import MEASURES
from app.computations.bars.timestamps import coin_sql, has_decimal_comma, measure_sql, time_sql
from app.computations.ingest import read_upload
from app.computations.uploads import sql
from app.computations.workspace import CellWorkspace
from app.errors import InvalidInput

_JUDGED_ROWS = 2_000
_SHOWN_INTERVALS = 4
_SETTLED = (
    r"^Column \d+ has no name|: numbers with thousands separators are kept",
    r": a comma may be a decimal or a thousands mark|: not only numbers",
)
"""What is remarked on tables and does not hold of bars; the latter where the decimal mark is known."""
_GROUP = 122_880
# Without the limit DuckDB looks for repeated prices for a fifth of the time that all of this takes.
_WRITING = f"(FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE {_GROUP}, DICTIONARY_SIZE_LIMIT 1000)"


@dataclass(frozen=True)
class RawBars:
    """`columns`: which of the file's columns is which of ours."""

    path: Path
    rows: int
    format: dict[str, Any]
    columns: dict[str, str]
    notes: list[str]


@dataclass(frozen=True)
class Asked:
    """What the sender says of the file: the coin of a file without one, and the zone of its clock."""

    coin: str | None = None
    zone: str | None = None


def read_raw(
    connection: duckdb.DuckDBPyConnection,
    workspace: CellWorkspace,
    filename: str,
    expanded_bytes: int,
    asked: Asked,
) -> RawBars:
    """Raises InvalidInput when the upload is no table of bars."""
    if asked.zone is not None:
        _check_zone(connection, asked.zone)
    target = workspace.output / ".work" / "raw.parquet"
    found: list[Found] = []

    def write(table: sql.Table) -> int:
        types = {column["name"]: column["type"] for column in table.columns}
        named = _found(connection, table, types, asked)
        found[:] = [replace(named, comma=_has_commas(connection, table, types, named))]
        select = _select(table, types, found[0], asked)
        done = connection.execute(f"COPY ({select}) TO {sql.text(target)} {_WRITING}").fetchone()
        return int(done[0]) if done else 0

    table, rows, compression = read_upload(connection, workspace, filename, expanded_bytes, write)
    if not rows:
        raise InvalidInput("no_rows", "The file has columns and no rows.")
    named = {ours: name for ours, name in found[0].names.items() if name}
    format_ = cast(dict[str, Any], {**table.format, "compression": compression})
    settled = _SETTLED if found[0].comma else _SETTLED[:1]
    notes = [note for note in table.notes if not any(re.search(one, note) for one in settled)]
    return RawBars(target, rows, format_, named, [*notes, *found[0].notes])


def in_order(connection: duckdb.DuckDBPyConnection, raw: Path) -> Path:
    """The same rows by coin, time and place in the file, which stands as `n`, counted from 1."""
    target = raw.with_name("ordered.parquet")
    source = f"read_parquet({sql.text(raw)}, file_row_number=true)"
    rows = f"SELECT * EXCLUDE (file_row_number), file_row_number + 1 AS n FROM {source}"  # noqa: S608
    connection.execute(f"COPY ({rows} ORDER BY coin, ts, n) TO {sql.text(target)} {_WRITING}")
    raw.unlink()
    return target


def _check_zone(connection: duckdb.DuckDBPyConnection, zone: str) -> None:
    known = connection.execute("SELECT count(*) FROM pg_timezone_names() WHERE name = ?", [zone]).fetchone()
    if not known or not known[0]:
        raise InvalidInput(
            "unknown_time_zone", f"{zone!r} is no time zone; name one as America/New_York.", time_zone=zone
        )


def _found(
    connection: duckdb.DuckDBPyConnection, table: sql.Table, types: dict[str, str], asked: Asked
) -> Found:
    names = list(types)
    if not are_unnamed(names):
        _check_one_interval(connection, table, interval_column(names))
        return find_columns(names, asked.coin)
    if asked.coin is None:
        raise InvalidInput(
            "missing_columns",
            "The file names no columns, so nothing says whose bars these are. Name the coin with `coin`.",
            missing=["coin"],
        )
    ways = orders(names, types)
    holding = [_share_that_holds(connection, table, types, way.names) for way in ways]
    best = ways[max(range(len(ways)), key=lambda at: (round(holding[at], 2), -at))]
    place = {ours: names.index(name) for ours, name in best.names.items() if name}
    order = ", ".join(sorted(place, key=lambda ours: place[ours]))
    return replace(best, notes=(f"The file names no columns; they are read as {order}.",))


def _check_one_interval(connection: duckdb.DuckDBPyConnection, table: sql.Table, column: str | None) -> None:
    """Of a coin's minutes and hours in one file nobody could tell which bar is which."""
    if column is None:
        return
    cell = f"CAST({sql.name(column)} AS VARCHAR)"
    rows = connection.execute(
        f"SELECT DISTINCT {cell} FROM ({table.select}) WHERE {cell} IS NOT NULL LIMIT {_SHOWN_INTERVALS}"  # noqa: S608
    ).fetchall()
    if len(rows) > 1:
        there = ", ".join(sorted(str(row[0])[:20] for row in rows))
        raise InvalidInput(
            "several_intervals",
            f"The column {column} says that the file holds bars of several intervals ({there}, ...). "
            "Send a file for each.",
            column=column,
        )


def _share_that_holds(
    connection: duckdb.DuckDBPyConnection, table: sql.Table, types: dict[str, str], way: Mapping[str, str]
) -> float:
    """The share of first rows whose highs and lows are such."""
    cells = ", ".join(f"{measure_sql(types, way[name])} AS {name}" for name in MEASURES[:4])
    holds = "high >= greatest(open, close, low) AND low <= least(open, close)"
    found = connection.execute(
        f"SELECT avg(CASE WHEN {holds} THEN 1.0 ELSE 0 END)"  # noqa: S608
        f" FROM (SELECT {cells} FROM ({table.select} LIMIT {_JUDGED_ROWS}))"
    ).fetchone()
    return float(found[0] or 0) if found else 0.0


def _has_commas(
    connection: duckdb.DuckDBPyConnection, table: sql.Table, types: dict[str, str], found: Found
) -> bool:
    """Is the comma the decimal mark of the file's numbers? Only those that were left as text can tell."""
    texts = [found.names[name] for name in MEASURES if types.get(found.names[name]) == "text"]
    if not texts:
        return False
    cells = " OR ".join(has_decimal_comma(sql.name(name)) for name in texts)
    told = connection.execute(
        f"SELECT bool_or({cells}) FROM (FROM ({table.select}) LIMIT {_JUDGED_ROWS})"  # noqa: S608
    ).fetchone()
    return bool(told and told[0])


def _select(table: sql.Table, types: dict[str, str], found: Found, asked: Asked) -> str:
    names = found.names
    cells = [
        f"{coin_sql(names['coin'], asked.coin)} AS coin",
        f"{time_sql(types, names['ts'], found.time, asked.zone)} AS ts",
        *(f"{measure_sql(types, names[name], found.comma)} AS {name}" for name in MEASURES),
    ]
    return f"SELECT {', '.join(cells)} FROM ({table.select})"  # noqa: S608
