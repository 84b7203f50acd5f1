"""Durations of cells: `python benchmarks/sandbox/cells.py`.

The pandas snippet (import, a frame of 1,000 rows, a sum) from request to result with full isolation, warm,
against `python -c` with the same snippet; 100 cells one after another and what they leave; 16 at once.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.sandbox.exchange.contract import CellRequest, Code, Limits, Outcome
from app.sandbox.outputs.folders import remove
from app.sandbox.provider.cell_provider import ProcessProvider
from app.sandbox.provider.process_config import ProcessConfig

SNIPPET = """
import pandas as pd, numpy as np
frame = pd.DataFrame({"v": np.arange(1000)})
result = int(frame["v"].sum())
"""
RUN_COUNT = 100
"""Cells of a measurement: enough for a 95th percentile."""
APART_S = 0.05
"""Between requests of a service: time enough to fork the next spare."""


def python_seconds() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", SNIPPET], check=True)
    return time.perf_counter() - started


async def cell_seconds(provider: ProcessProvider) -> float:
    output = Path(tempfile.mkdtemp(dir=provider.scratch))
    started = time.perf_counter()
    outcome: Outcome = await provider.run(CellRequest(Code(SNIPPET), {}, output, Limits(time_s=30)))
    consecutive = time.perf_counter() - started
    assert isinstance(outcome.value, dict), outcome
    assert outcome.value["result"] == 499_500
    remove(output)
    return consecutive


def footprint() -> tuple[int, int]:
    """Open descriptors of this process and its resident memory in KiB."""
    resident = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")
    )
    return len(list(Path("/proc/self/fd").iterdir())), int(resident.split()[1])


def _describe(seconds: list[float], floor_s: float) -> str:
    median_s = statistics.median(seconds)
    high_s = statistics.quantiles(seconds, n=20)[-1]
    return (
        f"median {1e3 * median_s:.1f} ms, 95th percentile {1e3 * high_s:.1f} ms: "
        f"{floor_s / median_s:.0f} times `python -c`"
    )


async def measure(tier: str, floor_s: float) -> None:
    with tempfile.TemporaryDirectory() as home:
        provider = ProcessProvider(ProcessConfig(Path(home), tier=tier))
        started = time.perf_counter()
        await provider.start()
        start_s = time.perf_counter() - started
        isolation = await provider.isolation()
        await cell_seconds(provider)
        before = footprint()
        consecutive = [await cell_seconds(provider) for _ in range(RUN_COUNT)]
        after = footprint()
        spaced = []
        for _ in range(RUN_COUNT // 2):
            await asyncio.sleep(APART_S)
            spaced.append(await cell_seconds(provider))
        started = time.perf_counter()
        await asyncio.gather(*(cell_seconds(provider) for _ in range(16)))
        together_s = time.perf_counter() - started
        print(f"{isolation.tier}: zygote ready in {start_s:.1f} s")
        print(f"  one cell, {1e3 * APART_S:.0f} ms apart: {_describe(spaced, floor_s)}")
        print(f"  one after another: {_describe(consecutive, floor_s)}")
        print(f"  16 at once: {1e3 * together_s:.0f} ms")
        print(
            f"  {RUN_COUNT} cells left {after[0] - before[0]} descriptors and {after[1] - before[1]} KiB "
            f"in the worker, and {len(list(provider.scratch.iterdir())) - 1} folders"
        )
        await provider.close()


def main() -> None:
    python_seconds()
    floor_s = statistics.median(python_seconds() for _ in range(5))
    print(f"python -c: median {1e3 * floor_s:.0f} ms")
    for tier in ("best", "lsm-only"):
        asyncio.run(measure(tier, floor_s))


if __name__ == "__main__":
    main()
