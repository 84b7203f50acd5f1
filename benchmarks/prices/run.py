"""How fast bars come in and go out: `python -m benchmarks.prices.run [bars] [rounds]`.

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
COINS = 12
STEP_S = 300
END_S = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
YEAR = 365 * 86_400 // STEP_S

PLAIN = """
    CREATE TABLE plain_bars (series_id int, ts timestamptz, open float8, high float8, low float8, close float8,
                             volume float8, PRIMARY KEY (series_id, ts))
"""


def walk(rows: int, seed: int, digits: int = 4) -> dict[str, Any]:
    """A geometric random walk of five-minute bars that ends with 2025; `digits`: of prices."""
    chance = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 1e-3, rows)))
    opened = np.concatenate([[100.0], close[:-1]])
    times = (END_S + STEP_S * (np.arange(rows) - rows)).astype("datetime64[s]")
    return {
        "ts": pa.array(times),
        "open": opened.round(digits),
        "high": (np.maximum(opened, close) * 1.0005).round(digits),
        "low": (np.minimum(opened, close) * 0.9995).round(digits),
        "close": close.round(digits),
        "volume": chance.lognormal(3, 0.6, rows).round(3),
    }


def write_files(folder: Path, bars: int) -> tuple[Path, Path]:
    """The same rows with the coin's name, and with the series' number in its place."""
    named, numbered = folder / "named.csv", folder / "numbered.csv"
    each = bars // COINS
    kinds = [(name, pa.float64()) for name in ("open", "high", "low", "close", "volume")]
    first = pa.schema([("symbol", pa.string()), ("ts", pa.timestamp("s")), *kinds])
    second = pa.schema([("symbol", pa.int32()), ("ts", pa.timestamp("s")), *kinds])
    with pacsv.CSVWriter(named, first) as by_name, pacsv.CSVWriter(numbered, second) as by_number:
        for coin in range(COINS):
            columns = walk(each, coin)
            by_name.write(pa.table({"symbol": [f"COIN{coin:02d}"] * each, **columns}, schema=first))
            numbers = pa.array(np.full(each, coin), pa.int32())
            by_number.write(pa.table({"symbol": numbers, **columns}, schema=second))
    return named, numbered


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
class Spent:
    """Seconds on the clock, and of processors: by this program with its servers and cells, and by others."""

    wall_s: float
    cpu_s: float
    others_s: float


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[Spent, Any]:
    wall, cpu, busy = time.perf_counter(), cpu_s(process_tree(os.getpid())), machine_busy_s()
    answer = await work()
    ours = cpu_s(process_tree(os.getpid())) - cpu
    return Spent(time.perf_counter() - wall, ours, max(machine_busy_s() - busy - ours, 0.0)), answer


def tell(name: str, spent: Sequence[Spent], rows: int) -> None:
    wall, ours = (statistics.median(getattr(one, kind) for one in spent) for kind in ("wall_s", "cpu_s"))
    others = sum(one.others_s for one in spent) / sum(one.wall_s for one in spent)
    each = ", ".join(f"{one.wall_s:.1f}" for one in spent)
    busy = f"{ours:.1f} CPU s; others kept {others:.1f} processors busy"
    say(f"  {name:<34} {wall:7.1f} s  {rows / wall:>12,.0f} rows/s  ({each}); {busy}")


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
    named, numbered = write_files(folder, bars)
    size = named.stat().st_size / 1e6
    say(f"{bars // COINS * COINS:,} bars of {COINS} coins, {size:,.0f} MB of CSV; {rounds} rounds")
    async with lab(folder) as (url, computer):
        database = await Database.open(url)
        prices = Prices(database, computer, folder / "prices", None)
        copied, loaded = [], []
        for _ in range(rounds):
            await empty(database)
            copied.append((await timed(lambda: plain_copy(database, numbered)))[0])
            await empty(database)
            spent, facts = await timed(lambda: prices.import_file(named, named.name))
            assert facts["added"] == facts["rows"], facts["bad"]
            loaded.append(spent)
        rows = facts["rows"]
        for name, each in (("plain COPY", copied), ("import", loaded)):
            tell(name, each, rows)
        ratio = statistics.median(
            [ours.wall_s / theirs.wall_s for ours, theirs in zip(loaded, copied, strict=True)]
        )
        say(f"  import over plain COPY             {ratio:7.2f} times (goal 1.5)")
        await reading(prices, named, rows)
        await database.close()


async def reading(prices: Prices, file: Path, rows: int) -> None:
    coins = [f"COIN{coin:02d}" for coin in range(COINS)]
    since = datetime.fromtimestamp(END_S - YEAR * STEP_S, UTC)
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
        spent, answer = await timed(work)
        given = getattr(answer, "facts", None)
        read = f"{given['rows'] / spent.wall_s:>12,.0f} rows/s" if given else ""
        say(f"  {name:<34} {spent.wall_s:7.3f} s  {spent.cpu_s:6.2f} CPU s  {read}")


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    given = [int(argument.replace("_", "")) for argument in sys.argv[1:]]
    bars, rounds = [*given, *(BARS, ROUNDS)[len(given) :]]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(bars, rounds, Path(folder)))


if __name__ == "__main__":
    main()
