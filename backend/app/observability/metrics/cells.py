"""Computations in cells, by the function of ours that they ran; code that somebody wrote is `program`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import Counter, Gauge, Histogram

CELLS_STARTED = Counter("labcrew_cells_started_total", "Computations that a cell was asked for.", ("function",))
CELLS_ENDED = Counter("labcrew_cells_ended_total", "Computations by how their cell ended.", ("function", "end"))
CELLS_RUNNING = Gauge("labcrew_cells_running", "Computations that have a cell now.")
CELLS_WAITING = Gauge("labcrew_cells_waiting", "Computations that wait for one of SANDBOX_MAX_CELLS.")
CELL_SECONDS = Histogram(
    "labcrew_cell_duration_seconds",
    "A computation in its cell, by the clock.",
    ("function",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300),
)
CELL_CPU = Counter("labcrew_cell_cpu_seconds_total", "CPU time that cells used.", ("function",))
ZYGOTES = Counter(
    "labcrew_zygote_starts_total", "Connections to a process that forks cells; a second one: it died."
)


@dataclass
class CellEnding:
    """Status and resource usage of an ended cell, set by the code that runs it."""

    end: str = "broken"
    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def count_computation(function: str) -> Iterator[CellEnding]:
    """One computation that has a cell; what it is told of its ending is counted, and a cancel by itself."""
    CELLS_STARTED.labels(function).inc()
    ending = CellEnding()
    try:
        with CELLS_RUNNING.track_inprogress():
            yield ending
    except asyncio.CancelledError:
        ending.end = "cancelled"
        raise
    finally:
        CELLS_ENDED.labels(function, ending.end).inc()
        if ending.wall_s:
            CELL_SECONDS.labels(function).observe(ending.wall_s)
            CELL_CPU.labels(function).inc(ending.cpu_s)
