"""Twenty indicators on 12 coins x a year of 5-minute bars: `python -m benchmarks.prices.indicators [rounds]`.

Ours is what every fit does with its rows: the recipe step that `calculate_technical_indicators` adds, over all
rows, coin by coin. Beside it, in turns, in the same process and on one thread, the same columns in plain pandas
(rolling, ewm and shift for each coin; where pandas would call Python for each row, numpy's windows). Then the
tool itself as the crew calls it: a cell that reads the table, and answers with the latest rows of it.

What both computed is compared, each coin after its first 1,000 bars: how a smoothed series begins differs, and
is forgotten by then.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.prices.plain_pandas import of_coin
from benchmarks.prices.run import COINS, YEAR, say, walk

from app.computations.cell_files.frames import MAX_PREVIEW_ROWS
from app.modeling.analysis.recipe_effects import apply_recipe
from app.modeling.problem.problem import Problem
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.storage.folder import FolderBlobs

ROUNDS = 3
NAMES = (
    "SMA_20", "SMA_50", "EMA_12", "EMA_26", "WMA_20", "MACD", "BBANDS_20", "RSI_14", "STOCH", "WILLR_14",
    "CCI_20", "MFI_14", "ROC_10", "MOM_10", "ADX_14", "ATR_14", "NATR_14", "TRANGE", "STDDEV_20", "OBV",
)  # fmt: skip
STEP = {
    "op": "indicators",
    "names": list(NAMES),
    "relative": False,
    **{name: name for name in ("open", "high", "low", "close", "volume")},
}
PROBLEM: dict[str, Any] = {
    "target": "close",
    "kind": "regression",
    "metric": "rmse",
    "time_column": "ts",
    "group_column": "coin",
    "horizon": 12,
}
UNROUNDED = 15
"""Digits: rounded prices tie, and then the last bit of a mean decides whether money flows in or out."""
SETTLED = 1_000
CLOSE = 1e-6


def market(bars: int) -> pd.DataFrame:
    """`bars` of each coin, by time and coin, as `fetch_price_data` gives them."""
    coins = []
    for n in range(COINS):
        columns = {name: np.asarray(values) for name, values in walk(bars, n, UNROUNDED).items()}
        coins.append(pd.DataFrame({"coin": f"COIN{n:02d}", **columns}))
    return pd.concat(coins).sort_values(["ts", "coin"], kind="stable", ignore_index=True)


def ours(frame: pd.DataFrame) -> pd.DataFrame:
    return apply_recipe(frame, Problem.from_json(PROBLEM), [STEP])


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    made = [of_coin(bars) for _, bars in frame.groupby("coin", sort=False)]
    return pd.concat(made).sort_index()


def timed(
    work: Callable[[pd.DataFrame], pd.DataFrame], frame: pd.DataFrame
) -> tuple[float, float, pd.DataFrame]:
    """Seconds of wall time, of processor time, and what was made."""
    cpu, wall = time.process_time(), time.perf_counter()
    made = work(frame)
    return time.perf_counter() - wall, time.process_time() - cpu, made


def furthest(made: pd.DataFrame, other: pd.DataFrame, coins: pd.Series) -> tuple[float, str]:
    """The largest difference beside the column's own size, and where; AssertionError where that is too much."""
    settled = (coins.groupby(coins).cumcount() >= SETTLED).to_numpy()
    apart = {}
    for name in other.columns:
        mine, theirs = made[name].to_numpy()[settled], other[name].to_numpy()[settled]
        assert np.isfinite(mine).all(), name
        assert np.isfinite(theirs).all(), name
        apart[name] = float((np.abs(mine - theirs) / np.abs(theirs).mean()).max())
    worst = max(apart, key=lambda name: apart[name])
    assert apart[worst] <= CLOSE, (worst, apart[worst])
    return apart[worst], worst


async def as_the_crew(frame: pd.DataFrame, rounds: int, folder: Path) -> tuple[float, float]:
    """Seconds until the tool's computation has answered, and the most memory that its cell had, in MB."""
    provider = ProcessProvider(ProcessConfig(folder / "cells"))
    await provider.start()
    blobs = FolderBlobs(folder / "blobs")
    frame.to_parquet(folder / "train.parquet", index=False)
    stored = await blobs.put_file(folder / "train.parquet")
    computer = ComputationRunner(provider, blobs, provider.scratch)
    params: dict[str, Any] = {"problem": PROBLEM, "indicators": list(NAMES), "relative": False}
    columns = {"high": "high", "low": "low", "volume": "volume", "opening": "open"}
    work = Computation("preparation.features.technical_indicators", {**params, **columns})
    walls, peaks = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        computed = await computer.run(work, {"frame": stored.digest}, Limits())
        walls.append(time.perf_counter() - started)
        peaks.append(computed.usage.peak_memory_bytes / 2**20)
    await provider.close()
    return statistics.median(walls), max(peaks)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    frame = market(int(sys.argv[2]) if len(sys.argv) > 2 else YEAR)
    made, other = ours(frame), plain(frame)
    made_of = f"{len(NAMES)} indicators, {other.shape[1]} columns"
    say(f"{len(frame):,} bars of {COINS} coins, {made_of}; {rounds} rounds")
    apart, where = furthest(made, other, frame["coin"])
    say(f"  the same within {apart:.1e} of a column's mean size ({where})")
    del made, other
    spent = [(timed(ours, frame)[:2], timed(plain, frame)[:2]) for _ in range(rounds)]
    for name, which in (("ours", 0), ("plain pandas", 1)):
        wall, cpu = (statistics.median(each[which][kind] for each in spent) for kind in (0, 1))
        say(f"  {name:<34} {wall:7.2f} s  {cpu:7.2f} CPU s  {len(frame) / wall:>12,.0f} rows/s")
    ratio = statistics.median(pandas[0] / mine[0] for mine, pandas in spent)
    say(f"  plain pandas over ours             {ratio:7.2f} times")
    with tempfile.TemporaryDirectory() as folder:
        wall, peak = asyncio.run(as_the_crew(frame, rounds, Path(folder)))
    shown = f"shows {MAX_PREVIEW_ROWS:,} rows; {peak:,.0f} MB at most"
    say(f"  the tool, in a cell                {wall:7.2f} s  {shown}")


if __name__ == "__main__":
    main()
