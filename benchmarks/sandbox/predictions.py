"""Rates of predictions by a stored model: `python -m benchmarks.sandbox.predictions [rows]`.

One row at a time in a new cell and in a kept one; then a table of a million rows (or as many as are asked for)
into Parquet and CSV, with the cell's own peak memory.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.artifacts.predictions import ROWS_CELL_LIMITS, TABLE_CELL_LIMITS, table_computation
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.preparation import split
from app.sandbox.exchange.contract import CellRequest, Computation, Limits, Outcome
from app.sandbox.outputs.folders import remove
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

ROWS = 1_000_000
SINGLE_ROW_RUNS = 200
"""Predictions of one row in a warm cell: enough for a 95th percentile."""


def table(rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.normal(size=(rows, 12)), columns=[f"x{number}" for number in range(12)])
    frame["town"] = draw.choice(["Bern", "Thun", "Biel", "Chur"], rows)
    frame["bought"] = (frame["x0"] + frame["x1"] * frame["x2"] + draw.normal(size=rows) > 0).astype(int)
    return frame


def fit_model(folder: Path, name: str) -> Path:
    """Fit a model to 20,000 rows, and return its file."""
    for folder_name in ("split", "fit"):
        (folder / folder_name).mkdir()
    table(20_000).to_parquet(folder / "train.parquet", index=False)
    locked: Any = split.split_table(
        CellWorkspace({"table": folder / "train.parquet"}, folder / "split"), {"target": "bought"}
    )
    fitting = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit", threads=2)
    train.fit_candidate(fitting, locked["problem"], name, locked["folds"], [])
    return folder / "fit" / "model.skops"


async def ask(provider: ProcessProvider, work: Computation, limits: Limits, **inputs: Path) -> Outcome:
    output = Path(tempfile.mkdtemp(dir=provider.scratch))
    outcome = await provider.run(CellRequest(work, inputs, output, limits))
    assert outcome.value is not None, outcome
    remove(output)
    return outcome


async def single_ms(provider: ProcessProvider, model: Path, runs: int, warm_for: str | None) -> list[float]:
    row = table(1).drop(columns="bought").to_dict("records")
    work = Computation("models.predict.predict", {"rows": row}, trusted=False, warm_for=warm_for)
    latencies_ms = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        await ask(provider, work, ROWS_CELL_LIMITS, model=model)
        latencies_ms.append(1e3 * (time.perf_counter() - started))
    return latencies_ms[1:]


async def measure(home: Path, name: str, rows: int, print_line: Callable[[str], object]) -> None:
    model, rows_file = fit_model(home, name), home / "given.parquet"
    table(rows).drop(columns="bought").to_parquet(rows_file, index=False)
    provider = ProcessProvider(ProcessConfig(home))
    await provider.start()
    print_line(f"{name}, {model.stat().st_size / 1e6:.1f} MB, {(await provider.isolation()).tier}")
    for title, runs, warm_for in (("a new cell", 10, None), ("a warm cell", SINGLE_ROW_RUNS, "me")):
        latencies_ms = await single_ms(provider, model, runs, warm_for)
        median, tail = statistics.median(latencies_ms), statistics.quantiles(latencies_ms, n=20)[-1]
        print_line(f"  one row in {title}: median {median:.1f} ms, 95th percentile {tail:.1f} ms")
    for form in ("parquet", "csv"):
        limits = replace(TABLE_CELL_LIMITS, time_s=3_600)
        started = time.perf_counter()
        outcome = await ask(provider, table_computation(form), limits, model=model, table=rows_file)
        duration_s = time.perf_counter() - started
        peak = outcome.usage.peak_memory_bytes / (1 << 20)
        print_line(
            f"  {rows:,} rows into {form}: {duration_s:.1f} s, {rows / duration_s:,.0f} rows/s, "
            f"peak {peak:.0f} MiB of the cell's own"
        )
    await provider.close()


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    for name in ("LogisticRegression", "LightGBM"):
        with tempfile.TemporaryDirectory() as home:
            asyncio.run(measure(Path(home), name, rows, print))


if __name__ == "__main__":
    main()
