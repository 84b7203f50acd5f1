"""From an upload to its profile: `python -m benchmarks.datasets.upload [--rows 5000000]`.

A CSV of twelve columns (500 MB at five million rows) goes through the API as one POST, which answers when the
table is converted, profiled and stored. Beside it in the same run, on the same file: what DuckDB takes for the
bare conversion to Parquet, and for that and the statements of the profile, in a process of its own. Then a file
with rows that are short, numbers that are none far behind the beginning, and one with a row that is too long;
what is answered is compared with DuckDB's own count.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from benchmarks.client import Client
from benchmarks.datasets.table import ROWS, write_csv
from benchmarks.quality.resource_usage import ResourceMonitor
from benchmarks.service import Load, Service, service, sign_in

ROUNDS = 3
"""Uploads of the file: their best is compared."""
_GOAL_S, _GOAL_MB, _GOAL_RATIO = 12, 600, 1.5
"""Goals of seconds, peak memory, and time over that of DuckDB with the profile."""

_BARE = """
import resource, sys, time, duckdb
from pathlib import Path
from app.computations.uploads.profile import profile_table
started = time.perf_counter()
with duckdb.connect(config={"threads": 2}) as connection:
    connection.execute("SET enable_progress_bar = false")
    read = f"FROM read_csv('{sys.argv[1]}')"
    connection.execute(f"COPY ({read}) TO '{sys.argv[2]}' (FORMAT parquet, COMPRESSION zstd)")
    if sys.argv[3] == "profile":
        profile_table(connection, Path(sys.argv[2]))
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - started, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
"""


def bare_conversion(path: Path, then: str = "") -> tuple[float, float, float]:
    """Seconds, peak MiB and CPU seconds of DuckDB alone; `then="profile"`: and of the profile."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _BARE, str(path), f"{folder}/bare.parquet", then],
            check=True,
            capture_output=True,
        )
    seconds, peak_mb, cpu_s = map(float, done.stdout.split())
    return seconds, peak_mb, cpu_s


async def post(running: Service, token: str, path: Path) -> dict[str, Any]:
    client = await Client.connect(running.port, token)
    try:
        return await client.send_file(f"/api/v1/datasets?filename={path.name}", path)
    finally:
        client.close()


async def upload(running: Service, token: str, path: Path) -> tuple[float, float, float, float, dict[str, Any]]:
    """Seconds, peak MiB of the API with its cells, their CPU seconds, MiB before, and the answer."""
    pid, before_mb = running.running["api"].pid, running.memory_mb("api")
    started = time.perf_counter()
    with ResourceMonitor(pid, started) as monitor:
        dataset = await post(running, token, path)
        seconds = time.perf_counter() - started
    usage = monitor.finish(time.perf_counter())
    return seconds, usage.peak_mb, usage.cpu_s, before_mb, dataset


async def check_profile(running: Service, token: str, path: Path, dataset: dict[str, Any]) -> None:
    """Compare the profile with DuckDB's own aggregates of the file."""
    client = await Client.connect(running.port, token)
    profile = await client.call("GET", f"/api/v1/datasets/{dataset['id']}/schema")
    client.close()
    columns = {column["name"]: column for column in profile["columns"]}
    with duckdb.connect() as connection:
        for name, column in columns.items():
            count, missing, minimum, maximum, mean = (
                connection.execute(
                    f"SELECT count(*), count(*) - count({name}), min({name}), max({name}),"
                    f" {f'avg({name})' if column['type'] in ('integer', 'number') else 'NULL'} FROM '{path}'"
                ).fetchone()
                or ()
            )
            _check_equal(name, "rows", profile["rows"], count)
            _check_equal(name, "missing", column["missing_count"], missing)
            if column["type"] in ("integer", "number"):
                _check_equal(name, "extremes", (column["min"], column["max"]), (minimum, maximum))
                _check_equal(name, "mean", f"{column['mean']:.9g}", f"{mean:.9g}")
        top = connection.execute(f"SELECT town, count(*) FROM '{path}' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1")
        value, count = top.fetchone() or ()
        _check_equal("town", "most frequent", columns["town"]["top"][0], {"value": value, "count": count})


def _check_equal(column: str, fact: str, value: object, expected: object) -> None:
    if value != expected:
        raise RuntimeError(f"{column}: {fact} is {value!r} instead of {expected!r}")


def _with_lines(path: Path, target: Path, change: Callable[[int, bytes], bytes]) -> Path:
    with path.open("rb") as source, target.open("wb") as out:
        for number, line in enumerate(source):
            out.write(change(number, line))
    return target


async def check_malformed(running: Service, token: str, path: Path, rows: int) -> None:
    """Short rows lack cells, a word among numbers is a missing one, a row that is too long is refused."""
    bad_row = rows * 9 // 10
    short = _with_lines(
        path, path.with_name("short.csv"), lambda n, line: b"7,2024-01-01\n" if n == bad_row else line
    )
    dataset = await post(running, token, short)
    _check_equal("short.csv", "rows", dataset["rows"], rows)
    assert any("fewer" in note for note in dataset["format"]["notes"]), dataset["format"]
    odd = _with_lines(
        path,
        path.with_name("odd.csv"),
        lambda n, line: line.replace(b"%d," % (n - 1), b"x,", 1) if n == bad_row else line,
    )
    dataset = await post(running, token, odd)
    _check_equal("odd.csv", "rows", dataset["rows"], rows)
    client = await Client.connect(running.port, token)
    column = (await client.call("GET", f"/api/v1/datasets/{dataset['id']}/schema"))["columns"][0]
    client.close()
    facts = (column["name"], column["type"], column["missing_count"])
    _check_equal("odd.csv", "type and missing cells", facts, ("order_id", "integer", 1))
    long = _with_lines(
        path, path.with_name("long.csv"), lambda n, line: line.strip() + b",1,2\n" if n == bad_row else line
    )
    try:
        await post(running, token, long)
    except RuntimeError as refusal:
        _check_equal("long.csv", "line", f"Line {bad_row + 1} " in str(refusal), True)
    else:
        raise RuntimeError("a row that is too long was taken")


async def measure(running: Service, path: Path, rows: int, rounds: int) -> None:
    token = await sign_in(running.port)
    tiny = path.with_name("tiny.csv")
    write_csv(tiny, 1_000)
    await post(running, token, tiny)  # cells are up
    uploads, conversions, profiled = [], [], []
    for _ in range(rounds):
        with Load() as load:
            conversions.append(bare_conversion(path))
        print(f"  DuckDB alone  {_figures(conversions[-1])}; {load.summary}", flush=True)
        with Load() as load:
            profiled.append(bare_conversion(path, "profile"))
        print(f"  and a profile {_figures(profiled[-1])}; {load.summary}", flush=True)
        with Load() as load:
            *figures, dataset = await upload(running, token, path)
        uploads.append(tuple(figures))
        print(f"  upload        {_figures(uploads[-1])}; {load.summary}", flush=True)
    upload_cost, bare_cost, profile_cost = min(uploads), min(conversions), min(profiled)
    print(f"upload to profile {upload_cost[0]:.1f} s (goal {_GOAL_S}),")
    print(f"  peak {upload_cost[1]:.0f} MB (goal {_GOAL_MB}),")
    print(f"  of which the API and its zygote had {upload_cost[3]:.0f} before;")
    print(f"  {upload_cost[0] / bare_cost[0]:.2f} times DuckDB's bare conversion")
    print(f"  ({bare_cost[0]:.1f} s, {bare_cost[1]:.0f} MB),")
    print(
        f"  {upload_cost[0] / profile_cost[0]:.2f} times that with the profile ({profile_cost[0]:.1f} s;"
        f" goal {_GOAL_RATIO}), {upload_cost[2] / profile_cost[2]:.2f} times its CPU"
    )
    await check_profile(running, token, path, dataset)
    print("  the profile equals DuckDB's aggregates")
    small = path.with_name("small.csv")
    write_csv(small, rows // 10)
    await check_malformed(running, token, small, rows // 10)
    print("  short rows, a word among numbers and a row that is too long: as promised")


def _figures(figures: tuple[float, ...]) -> str:
    return f"{figures[0]:6.1f} s, {figures[1]:5.0f} MB, {figures[2]:5.1f} s of CPU"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="labcrew-bench-") as folder, service() as running:
        path = Path(folder) / "orders.csv"
        size = write_csv(path, options.rows)
        print(f"{options.rows:,} rows of 12 columns, {size / 1e6:,.0f} MB of CSV", flush=True)
        asyncio.run(measure(running, path, options.rows, options.rounds))


if __name__ == "__main__":
    main()
