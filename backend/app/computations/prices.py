"""Price bars: from any table that names its columns in the usual ways, and back to a frame."""

import re
from pathlib import Path

import duckdb

from app.computations.bench import Bench, JsonValue
from app.computations.ingest import convert
from app.computations.uploads import sql
from app.errors import InvalidInput

_MEMORY_BYTES = 384 << 20
_EXAMPLES = 20
_MEASURES = ("open", "high", "low", "close", "volume")

# Our column -> what others call it, in lower case without punctuation.
_ALIASES: dict[str, tuple[str, ...]] = {
    "coin_type": ("cointype", "coin", "symbol", "ticker", "asset", "pair", "instrument", "market"),
    "ts": ("ts", "timestamp", "time", "datetime", "date", "opentime", "unix", "unixtimestamp", "start"),
    "open": ("open", "o", "openprice"),
    "high": ("high", "h", "highprice"),
    "low": ("low", "l", "lowprice"),
    "close": ("close", "c", "closeprice", "price"),
    "volume": ("volume", "v", "vol", "basevolume"),
}

# Why a bar is bad, first reason that holds; over the columns of `bars`.
_FAULTS: tuple[tuple[str, str], ...] = (
    ("no coin", "coin_type IS NULL OR NOT regexp_full_match(coin_type, '[A-Z0-9][A-Z0-9._/-]{0,31}')"),
    ("no time", "ts IS NULL"),
    ("off the five-minute grid", "epoch_us(ts) % 300000000 <> 0"),
    ("a value is missing", "open IS NULL OR high IS NULL OR low IS NULL OR close IS NULL OR volume IS NULL"),
    ("a price is not positive", "least(open, high, low, close) <= 0"),
    ("the volume is negative", "volume < 0"),
    ("high is not the highest", "high < greatest(open, close, low)"),
    ("low is not the lowest", "low > least(open, close, high)"),
    ("a later bar has the same coin and time", "n < last_n"),
)


def read_bars(bench: Bench, filename: str = "", coin: str | None = None) -> dict[str, JsonValue]:
    """Read the input `upload` and leave bars.csv: coin, time, open, high, low, close, volume, without a header.

    Returns `{"rows", "kept", "bad": {"count", "reasons": {reason: count}, "examples"}}`; bad bars are left out.
    `coin` names the coin of a file that has no such column. Raises InvalidInput when a column is missing.
    """
    found = convert(bench, filename)
    table = bench.output / "table.parquet"
    try:
        names = [column["name"] for column in found["columns"]]  # type: ignore[index, union-attr, call-overload] # JSON
        with sql.connect(bench.output, bench.threads, _MEMORY_BYTES) as connection:
            _judge_bars(connection, table, _columns([str(name) for name in names], coin), coin)
            kept = _write_bars(connection, bench.output / "bars.csv")
            bad = _bad_bars(connection)
    finally:
        table.unlink(missing_ok=True)
    if not kept:
        raise InvalidInput("no_good_bars", "No bar of the file can be used.", **bad)
    return {"rows": found["rows"], "kept": kept, "bad": bad}


def frame(bench: Bench) -> dict[str, JsonValue]:
    """The input `bars` (CSV of ts, open, high, low, close, volume) as frame.parquet: `{"rows", "columns"}`."""
    columns = {"ts": "TIMESTAMP"} | dict.fromkeys(_MEASURES, "DOUBLE")
    spelled = ", ".join(f"{name}: '{kind}'" for name, kind in columns.items())
    source = f"read_csv({sql.text(bench.inputs['bars'])}, header=false, columns={{{spelled}}})"
    target = sql.text(bench.output / "frame.parquet")
    with sql.connect(bench.output, bench.threads, _MEMORY_BYTES) as connection:
        done = connection.execute(
            f"COPY (FROM {source}) TO {target} (FORMAT parquet, COMPRESSION zstd)"
        ).fetchone()
    described: list[JsonValue] = [
        {"name": name, "type": "datetime" if name == "ts" else "number"} for name in columns
    ]
    return {"rows": int(done[0]) if done else 0, "columns": described}


def _columns(names: list[str], coin: str | None) -> dict[str, str]:
    """Which column of the file is which of ours."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in names}
    found = {
        ours: next((plain[alias] for alias in aliases if alias in plain), "")
        for ours, aliases in _ALIASES.items()
    }
    if coin is not None:
        found["coin_type"] = ""
    missing = [ours for ours, name in found.items() if not name and (ours != "coin_type" or coin is None)]
    if missing:
        raise InvalidInput(
            "missing_columns",
            f"The file has no column for {', '.join(missing)}; it has {', '.join(names[:30])}."
            + (" Name the coin with `coin`." if missing == ["coin_type"] else ""),
            missing=missing,
        )
    return found


def _judge_bars(
    connection: duckdb.DuckDBPyConnection, table: Path, columns: dict[str, str], coin: str | None
) -> None:
    """Make the table `bars`: every row with its number and its fault, if it has one."""
    source = f"read_parquet({sql.text(table)}, file_row_number=true)"
    cells = [_coin(columns["coin_type"], coin), _time(connection, source, columns["ts"])]
    cells += [f"TRY_CAST({sql.name(columns[name])} AS DOUBLE) AS {name}" for name in _MEASURES]
    faults = " ".join(f"WHEN {rule} THEN {sql.text(reason)}" for reason, rule in _FAULTS)
    connection.execute(
        f"CREATE TABLE bars AS SELECT * EXCLUDE (last_n), CASE {faults} END AS fault FROM ("  # noqa: S608
        f" SELECT *, max(n) OVER (PARTITION BY coin_type, ts) AS last_n FROM ("
        f" SELECT {', '.join(cells)}, file_row_number + 1 AS n FROM {source}))"
    )


def _coin(column: str, coin: str | None) -> str:
    value = sql.text(coin) if coin is not None else f"CAST({sql.name(column)} AS VARCHAR)"
    return f"upper(trim({value})) AS coin_type"


def _time(connection: duckdb.DuckDBPyConnection, source: str, column: str) -> str:
    """Times as they are, or seconds, milli-, micro- or nanoseconds since 1970 by their size."""
    cell = sql.name(column)
    described = connection.execute(f"SELECT typeof(any_value({cell})) FROM {source}").fetchone()  # noqa: S608
    kind = described[0] if described else "NULL"
    if kind == "TIMESTAMP":
        return f"{cell} AS ts"
    if kind not in ("BIGINT", "DOUBLE"):
        return f"TRY_CAST({cell} AS TIMESTAMP) AS ts"
    micros = (
        f"CASE WHEN abs({cell}) < 1e11 THEN {cell} * 1000000 WHEN abs({cell}) < 1e14 THEN {cell} * 1000"
        f" WHEN abs({cell}) < 1e17 THEN {cell} ELSE {cell} / 1000 END"
    )
    return f"make_timestamp(CAST({micros} AS BIGINT)) AS ts"


def _write_bars(connection: duckdb.DuckDBPyConnection, target: Path) -> int:
    good = (
        "SELECT coin_type, strftime(ts, '%Y-%m-%d %H:%M:%S+00'), open, high, low, close, volume"
        " FROM bars WHERE fault IS NULL ORDER BY coin_type, ts"
    )
    done = connection.execute(f"COPY ({good}) TO {sql.text(target)} (FORMAT csv, HEADER false)").fetchone()
    return int(done[0]) if done else 0


def _bad_bars(connection: duckdb.DuckDBPyConnection) -> dict[str, JsonValue]:
    reasons = dict(
        connection.execute(
            "SELECT fault, count(*) FROM bars WHERE fault IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
    )
    examples = connection.execute(
        "SELECT n, fault FROM bars WHERE fault IS NOT NULL ORDER BY n LIMIT ?", [_EXAMPLES]
    ).fetchall()
    return {
        "count": sum(reasons.values()),
        "reasons": reasons,
        "examples": [{"row": row, "reason": reason} for row, reason in examples],
    }
