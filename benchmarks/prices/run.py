"""Rates of importing and reading bars: `python -m benchmarks.prices.run [bars] [rounds]`.

The rows of one CSV file go into Postgres twice a round: by a plain COPY into a table with the same columns and
primary key (its rows already say which series they are of, so nothing has to be found out), and by an import,
from the file to committed bars with their report. Both write to one server with fsync, and take turns. Then
the same file again, listing, statistics, and frames.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from benchmarks.quality.resource_usage import cpu_s, machine_busy_s, process_tree

from app.datasets.prices import Prices
from app.db.migrations import upgrade
from app.db.pool import Database
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.servers.embedded import EmbeddedServers
from app.storage.folder import FolderBlobs

BARS = 10_000_000
ROUNDS = 3
"""Imports and copies: the median is printed."""
COINS = 12
"""Series of the file."""
STEP_S = 300
END_S = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
BARS_PER_YEAR = 365 * 86_400 // STEP_S
"""Bars of a year of five-minute bars."""

PLAIN = """
    CREATE TABLE plain_bars (series_id int, ts timestamptz, open float8, high float8, low float8, close float8,
                             volume float8, PRIMARY KEY (series_id, ts))
"""


def walk(rows: int, seed: int, digits: int = 4) -> dict[str, Any]:
    """A geometric random walk of five-minute bars that ends with 2025; `digits`: of prices."""
    chance = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 1e-3, rows)))
    open_prices = np.concatenate([[100.0], close[:-1]])
    times = (END_S + STEP_S * (np.arange(rows) - rows)).astype("datetime64[s]")
    return {
        "ts": pa.array(times),
        "open": open_prices.round(digits),
        "high": (np.maximum(open_prices, close) * 1.0005).round(digits),
        "low": (np.minimum(open_prices, close) * 0.9995).round(digits),
        "close": close.round(digits),
        "volume": chance.lognormal(3, 0.6, rows).round(3),
    }


def write_files(folder: Path, bars: int) -> tuple[Path, Path]:
    """The same rows with the coin's name, and with the series' number in its place."""
    with_names, with_numbers = folder / "named.csv", folder / "numbered.csv"
    bars_per_coin = bars // COINS
    kinds = [(name, pa.float64()) for name in ("open", "high", "low", "close", "volume")]
    first = pa.schema([("symbol", pa.string()), ("ts", pa.timestamp("s")), *kinds])
    second = pa.schema([("symbol", pa.int32()), ("ts", pa.timestamp("s")), *kinds])
    with pacsv.CSVWriter(with_names, first) as by_name, pacsv.CSVWriter(with_numbers, second) as by_number:
        for coin in range(COINS):
            columns = walk(bars_per_coin, coin)
            by_name.write(pa.table({"symbol": [f"COIN{coin:02d}"] * bars_per_coin, **columns}, schema=first))
            numbers = pa.array(np.full(bars_per_coin, coin), pa.int32())
            by_number.write(pa.table({"symbol": numbers, **columns}, schema=second))
    return with_names, with_numbers


@asynccontextmanager
async def lab(home: Path) -> AsyncIterator[tuple[str, ComputationRunner]]:
    """The address of a migrated database, and cells."""
    servers = EmbeddedServers(home / "servers")
    servers.prepare_folders()
    provider = ProcessProvider(ProcessConfig(home / "cells"))
    try:
        url = servers.start_postgres()
        with ThreadPoolExecutor(1) as thread:
            thread.submit(upgrade, url).result()
        await provider.start()
        blobs = FolderBlobs(home / "blobs")
        yield url, ComputationRunner(provider, blobs, provider.scratch)
    finally:
        await provider.close()
        servers.stop()


@dataclass(frozen=True)
class Usage:
    """Seconds on the clock, and of processors: by this program with its servers and cells, and by others."""

    wall_s: float
    cpu_s: float
    others_s: float


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[Usage, Any]:
    wall, cpu, busy = time.perf_counter(), cpu_s(process_tree(os.getpid())), machine_busy_s()
    result = await work()
    own_cpu_s = cpu_s(process_tree(os.getpid())) - cpu
    return Usage(time.perf_counter() - wall, own_cpu_s, max(machine_busy_s() - busy - own_cpu_s, 0.0)), result


def print_usage(name: str, usage: Sequence[Usage], rows: int) -> None:
    wall, own_cpu_s = (
        statistics.median(getattr(measurement, kind) for measurement in usage) for kind in ("wall_s", "cpu_s")
    )
    others = sum(measurement.others_s for measurement in usage) / sum(
        measurement.wall_s for measurement in usage
    )
    wall_times = ", ".join(f"{measurement.wall_s:.1f}" for measurement in usage)
    busy = f"{own_cpu_s:.1f} CPU s; others kept {others:.1f} processors busy"
    say(f"  {name:<34} {wall:7.1f} s  {rows / wall:>12,.0f} rows/s  ({wall_times}); {busy}")


async def plain_copy(database: Database, file: Path) -> None:
    async with database.dedicated_connection() as connection:
        await connection.copy_to_table("plain_bars", source=file, format="csv", header=True, timeout=3_600)


async def empty(database: Database) -> None:
    async with database.dedicated_connection() as connection:
        await connection.execute("DROP TABLE IF EXISTS plain_bars")
        await connection.execute(PLAIN)
        await connection.execute("TRUNCATE price_bars, price_series")
        await connection.execute("CHECKPOINT")


async def measure(bars: int, rounds: int, folder: Path) -> None:
    with_names, with_numbers = write_files(folder, bars)
    size = with_names.stat().st_size / 1e6
    say(f"{bars // COINS * COINS:,} bars of {COINS} coins, {size:,.0f} MB of CSV; {rounds} rounds")
    async with lab(folder) as (url, computer):
        database = await Database.open(url)
        prices = Prices(database, computer, folder / "prices", None)
        copy_usages, import_usages = [], []
        for _ in range(rounds):
            await empty(database)
            copy_usages.append((await timed(lambda: plain_copy(database, with_numbers)))[0])
            await empty(database)
            usage, facts = await timed(lambda: prices.import_file(with_names, with_names.name))
            assert facts["added"] == facts["rows"], facts["bad"]
            import_usages.append(usage)
        rows = facts["rows"]
        for name, usages in (("plain COPY", copy_usages), ("import", import_usages)):
            print_usage(name, usages, rows)
        ratio = statistics.median(
            [
                imported.wall_s / copied.wall_s
                for imported, copied in zip(import_usages, copy_usages, strict=True)
            ]
        )
        say(f"  import over plain COPY             {ratio:7.2f} times (goal 1.5)")
        await reading(prices, with_names, rows)
        await database.close()


async def reading(prices: Prices, file: Path, rows: int) -> None:
    coins = [f"COIN{coin:02d}" for coin in range(COINS)]
    since = datetime.fromtimestamp(END_S - BARS_PER_YEAR * STEP_S, UTC)
    works: dict[str, Callable[[], Awaitable[Any]]] = {
        "the same file again": lambda: prices.import_file(file, file.name),
        "list coins and intervals": prices.list_series,
        "statistics of all": prices.statistics,
        "statistics of a coin's year": lambda: prices.statistics(coins[0], since),
        "frame: a coin, a year": lambda: prices.fetch(coins[:1], since, None),
        "frame: all coins, a year": lambda: prices.fetch(coins, since, None),
        "frame: all coins, a year, hourly": lambda: prices.fetch(coins, since, None, "1h"),
        "frame: everything": lambda: prices.fetch(coins, None, None),
    }
    for name, work in works.items():
        usage, result = await timed(work)
        facts = getattr(result, "facts", None)
        read = f"{facts['rows'] / usage.wall_s:>12,.0f} rows/s" if facts else ""
        say(f"  {name:<34} {usage.wall_s:7.3f} s  {usage.cpu_s:6.2f} CPU s  {read}")


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    arguments = [int(argument.replace("_", "")) for argument in sys.argv[1:]]
    bars, rounds = [*arguments, *(BARS, ROUNDS)[len(arguments) :]]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(bars, rounds, Path(folder)))


if __name__ == "__main__":
    main()
