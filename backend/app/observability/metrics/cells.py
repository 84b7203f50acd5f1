"""Metrics of computations in cells, by function; programs of agents and users are `program`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import Counter, Gauge, Histogram

CELLS_STARTED = Counter("labcrew_cells_started_total", "Computations that began in a cell.", ("function",))
CELLS_ENDED = Counter(
    "labcrew_cells_ended_total", "Computations by the end of their cell.", ("function", "end")
)
CELLS_RUNNING = Gauge("labcrew_cells_running", "Computations that run in a cell now.")
CELLS_WAITING = Gauge("labcrew_cells_waiting", "Computations that wait for one of SANDBOX_MAX_CELLS.")
CELL_SECONDS = Histogram(
    "labcrew_cell_duration_seconds",
    "Wall-clock time of a computation in its cell.",
    ("function",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300),
)
CELL_CPU = Counter("labcrew_cell_cpu_seconds_total", "CPU time that cells used.", ("function",))
ZYGOTES = Counter(
    "labcrew_zygote_starts_total", "Connections to a zygote; more than one of a process: a zygote died."
)


@dataclass
class CellEnding:
    """Status and resource usage of an ended cell, set by the code that runs it."""

    end: str = "broken"
    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def count_computation(function: str) -> Iterator[CellEnding]:
    """Count one computation. The caller sets the fields of the CellEnding; a cancellation is counted here."""
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
        # A cell that never started has no time to observe.
        if ending.wall_s:
            CELL_SECONDS.labels(function).observe(ending.wall_s)
            CELL_CPU.labels(function).inc(ending.cpu_s)
