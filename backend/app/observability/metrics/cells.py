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
RUNS = Counter(
    "labcrew_sandbox_runs_total",
    "Programs and queries of people and agents by how they ended.",
    ("provider", "query_mode", "status"),
)
RUN_SECONDS = Histogram(
    "labcrew_sandbox_run_seconds",
    "Wall-clock time of a program or query in its cell.",
    ("provider", "query_mode"),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 30, 60, 300),
)
ZYGOTES = Counter(
    "labcrew_zygote_starts_total", "Connections to a zygote; more than one of a process: a zygote died."
)

_RUN_STATUSES = {
    "returned": "succeeded",
    "refused": "rejected",
    "timed_out": "timed_out",
    "cancelled": "cancelled",
}
"""End of a cell -> status of its run, as `POST /runs` names it; any other end is `failed`."""


@dataclass
class CellEnding:
    """Status and resource usage of an ended cell, set by the code that runs it."""

    end: str = "broken"
    wall_s: float = 0.0
    cpu_s: float = 0.0


@dataclass(frozen=True)
class SandboxRun:
    """A program or query that was asked for. `query_mode`: `sql`, `plan` or `python`."""

    provider: str
    query_mode: str

    def count(self, ending: CellEnding) -> None:
        status = _RUN_STATUSES.get(ending.end, "failed")
        RUNS.labels(self.provider, self.query_mode, status).inc()
        if ending.wall_s:
            RUN_SECONDS.labels(self.provider, self.query_mode).observe(ending.wall_s)


@contextmanager
def count_computation(function: str, run: SandboxRun | None = None) -> Iterator[CellEnding]:
    """Count one computation. The caller sets the fields of the CellEnding; a cancellation is counted here.

    `run`: the program or query that it is; None for the service's own computations.
    """
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
        if run:
            run.count(ending)
        # A cell that never started has no time to observe.
        if ending.wall_s:
            CELL_SECONDS.labels(function).observe(ending.wall_s)
            CELL_CPU.labels(function).inc(ending.cpu_s)
