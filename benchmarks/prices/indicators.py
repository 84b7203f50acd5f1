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
from benchmarks.prices.run import BARS_PER_YEAR, COINS, say, walk

from app.computations.cell_files.frames import MAX_PREVIEW_ROWS
from app.modeling.analysis.recipe_effects import apply_recipe
from app.modeling.problem.problem import Problem
from app.sandbox.computation_runner import ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig
from app.storage.folder import FolderBlobs

ROUNDS = 3
"""Measurements of each implementation: their median is printed."""
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
WARM_UP_BARS = 1_000
"""First bars of a coin that are not compared: recursive averages still depend on how they began."""
MAX_RELATIVE_DIFFERENCE = 1e-6
"""Largest difference over a column's mean size that is rounding."""


def market(bars: int) -> pd.DataFrame:
    """`bars` of each coin, by time and coin, as `fetch_price_data` gives them."""
    coins = []
    for n in range(COINS):
        columns = {name: np.asarray(values) for name, values in walk(bars, n, UNROUNDED).items()}
        coins.append(pd.DataFrame({"coin": f"COIN{n:02d}", **columns}))
    return pd.concat(coins).sort_values(["ts", "coin"], kind="stable", ignore_index=True)


def labcrew_indicators(frame: pd.DataFrame) -> pd.DataFrame:
    return apply_recipe(frame, Problem.from_json(PROBLEM), [STEP])


def pandas_indicators(frame: pd.DataFrame) -> pd.DataFrame:
    indicators = [of_coin(bars) for _, bars in frame.groupby("coin", sort=False)]
    return pd.concat(indicators).sort_index()


def timed(
    work: Callable[[pd.DataFrame], pd.DataFrame], frame: pd.DataFrame
) -> tuple[float, float, pd.DataFrame]:
    """Return the seconds of wall time and of processor time, and the indicators."""
    cpu, wall = time.process_time(), time.perf_counter()
    indicators = work(frame)
    return time.perf_counter() - wall, time.process_time() - cpu, indicators


def largest_difference(
    indicators: pd.DataFrame, reference: pd.DataFrame, coins: pd.Series
) -> tuple[float, str]:
    """Return the largest difference over a column's mean size, and its column. AssertionError if too large."""
    is_settled = (coins.groupby(coins).cumcount() >= WARM_UP_BARS).to_numpy()
    differences = {}
    for name in reference.columns:
        values, expected = indicators[name].to_numpy()[is_settled], reference[name].to_numpy()[is_settled]
        assert np.isfinite(values).all(), name
        assert np.isfinite(expected).all(), name
        differences[name] = float((np.abs(values - expected) / np.abs(expected).mean()).max())
    worst = max(differences, key=lambda name: differences[name])
    assert differences[worst] <= MAX_RELATIVE_DIFFERENCE, (worst, differences[worst])
    return differences[worst], worst


async def measure_tool(frame: pd.DataFrame, rounds: int, folder: Path) -> tuple[float, float]:
    """Return the median seconds of the tool's computation, and the peak memory of its cell in MB."""
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
    frame = market(int(sys.argv[2]) if len(sys.argv) > 2 else BARS_PER_YEAR)
    indicators, reference = labcrew_indicators(frame), pandas_indicators(frame)
    title = f"{len(NAMES)} indicators, {reference.shape[1]} columns"
    say(f"{len(frame):,} bars of {COINS} coins, {title}; {rounds} rounds")
    difference, column = largest_difference(indicators, reference, frame["coin"])
    say(f"  the same within {difference:.1e} of a column's mean size ({column})")
    del indicators, reference
    spent = [(timed(labcrew_indicators, frame)[:2], timed(pandas_indicators, frame)[:2]) for _ in range(rounds)]
    for name, position in (("labcrew", 0), ("plain pandas", 1)):
        wall, cpu = (statistics.median(round_times[position][kind] for round_times in spent) for kind in (0, 1))
        say(f"  {name:<34} {wall:7.2f} s  {cpu:7.2f} CPU s  {len(frame) / wall:>12,.0f} rows/s")
    ratio = statistics.median(pandas[0] / labcrew[0] for labcrew, pandas in spent)
    say(f"  plain pandas over labcrew           {ratio:7.2f} times")
    with tempfile.TemporaryDirectory() as folder:
        wall, peak = asyncio.run(measure_tool(frame, rounds, Path(folder)))
    description = f"shows {MAX_PREVIEW_ROWS:,} rows; {peak:,.0f} MB at most"
    say(f"  the tool, in a cell                {wall:7.2f} s  {description}")


if __name__ == "__main__":
    main()
