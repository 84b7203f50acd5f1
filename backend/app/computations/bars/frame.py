"""Bars from Postgres as a frame, at their own interval or aggregated to a longer one."""

from collections.abc import Mapping
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.bars.binary_format import HEADER
from app.computations.bars.copy_records import BAR, MEASURES, decode_records
from app.computations.bars.interval import MONTH_S, interval_name
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import sql
from app.errors import InvalidInput
from app.json_types import JsonValue

_CHUNK_RECORDS = 1 << 17
"""Records decoded at a time: about 10 MB."""
_MAX_EXAMPLES = 20
"""Incomplete bars that are listed."""
_WRITING = "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)"


def write_frame(
    connection: duckdb.DuckDBPyConnection,
    workspace: CellWorkspace,
    coins: Mapping[int, str],
    interval_s: int,
    wanted_s: int,
) -> dict[str, JsonValue]:
    """Write frame.parquet: `ts` (UTC, the start of the bar), open, high, low, close, volume, oldest first.

    Several coins are in a first column `coin`, sorted by time and coin. `wanted_s` is `interval_s` or a
    multiple. Returns `{"rows", "columns", "incomplete": {"count", "examples"}}`: a bar of the longer interval
    that lacks some of its bars is incomplete; incomplete bars at a coin's beginning and end are left out.
    """
    records = workspace.output / ".work" / "bars.parquet"
    _write_records(workspace, coins, records)
    source = f"read_parquet({sql.text(records)})"
    incomplete: dict[str, JsonValue] = {"count": 0, "examples": []}
    if wanted_s != interval_s:
        connection.execute(f"CREATE VIEW aggregated AS {_aggregate_sql(source, interval_s, wanted_s)}")
        source, incomplete = "complete", _incomplete_json(connection)
        connection.execute(
            "CREATE VIEW complete AS SELECT * FROM aggregated WHERE NOT (cut AND bars < expected)"
        )
    several = len(coins) > 1
    names = [*(("coin",) if several else ()), "ts", *MEASURES]
    order = "ts, coin" if several else "ts"
    target = sql.text(workspace.output / "frame.parquet")
    row = connection.execute(
        f"COPY (SELECT {', '.join(names)} FROM {source} ORDER BY {order}) TO {target} {_WRITING}"  # noqa: S608
    ).fetchone()
    if not row or not row[0]:
        raise InvalidInput(
            "no_whole_bars", f"There is no complete bar of {interval_name(wanted_s)} in this range of time."
        )
    kinds = {"coin": "text", "ts": "datetime"}
    columns: list[JsonValue] = [{"name": name, "type": kinds.get(name, "number")} for name in names]
    return {"rows": int(row[0]), "columns": columns, "incomplete": incomplete}


def _write_records(workspace: CellWorkspace, coins: Mapping[int, str], target: Path) -> None:
    """Convert Postgres' records to Parquet in chunks."""
    numbers = sorted(coins)
    names = pa.array([coins[number] for number in numbers])
    schema = pa.schema(
        [
            ("coin", pa.dictionary(pa.int32(), pa.string())),
            ("ts", pa.timestamp("us")),
            *((name, pa.float64()) for name in MEASURES),
        ]
    )
    with (
        workspace.inputs["bars"].open("rb") as file,
        pq.ParquetWriter(target, schema, compression="none", use_dictionary=["coin"]) as writer,
    ):
        # What remains behind the last record, less than one, is the trailer of the format.
        file.seek(len(HEADER))
        while len(chunk := file.read(_CHUNK_RECORDS * BAR.itemsize)) >= BAR.itemsize:
            complete = len(chunk) // BAR.itemsize * BAR.itemsize
            columns = decode_records(np.frombuffer(chunk[:complete], dtype=BAR))
            # Codes index the sorted numbers, whose coins are the dictionary: names are not written per row.
            codes = pa.array(np.searchsorted(numbers, columns["series"]).astype(np.int32))
            arrays = [
                pa.DictionaryArray.from_arrays(codes, names),
                pa.array(columns["ts"]).cast(pa.timestamp("us")),
            ]
            arrays += [pa.array(columns[name]) for name in MEASURES]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _aggregate_sql(source: str, interval_s: int, wanted_s: int) -> str:
    """SQL of bars of the longer interval in UTC; weeks begin on Monday. `cut`: a coin's first or last bar."""
    width = (
        f"INTERVAL '{wanted_s // MONTH_S} months'"
        if wanted_s % MONTH_S == 0
        else f"INTERVAL '{wanted_s} seconds'"
    )
    # A month of daily bars has 28 to 31 of them, so the days of calendar months are counted.
    length = f"epoch(start + {width}) - epoch(start)" if wanted_s % MONTH_S == 0 else str(wanted_s)
    # DuckDB counts buckets of less than a month from 2000-01-03, a Monday.
    return (
        f"SELECT *, start AS ts, CAST(({length}) / {interval_s} AS BIGINT) AS expected,"  # noqa: S608
        " start IN (min(start) OVER (PARTITION BY coin), max(start) OVER (PARTITION BY coin)) AS cut FROM ("
        f"SELECT coin, time_bucket({width}, ts) AS start, arg_min(open, ts) AS open, max(high) AS high,"
        " min(low) AS low, arg_max(close, ts) AS close, sum(volume) AS volume, count(*) AS bars"
        f" FROM {source} GROUP BY coin, start)"
    )


def _incomplete_json(connection: duckdb.DuckDBPyConnection) -> dict[str, JsonValue]:
    incomplete_bars = "FROM aggregated WHERE bars < expected"
    (count,) = connection.execute(f"SELECT count(*) {incomplete_bars}").fetchone() or (0,)
    rows = connection.execute(
        f"SELECT coin, strftime(ts, '%Y-%m-%dT%H:%M:%SZ'), bars, expected, cut {incomplete_bars}"
        " ORDER BY ts, coin LIMIT ?",
        [_MAX_EXAMPLES],
    ).fetchall()
    examples: list[JsonValue] = [
        {"coin": coin, "time": at, "bars": bars, "expected": expected, "left_out": cut}
        for coin, at, bars, expected, cut in rows
    ]
    return {"count": int(count), "examples": examples}
