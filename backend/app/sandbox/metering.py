"""Resource usage of the cells of one call, added up while it runs, failed cells included."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from app.sandbox.exchange.contract import Limits, Usage

MIN_RECORDED_CPU_S = 0.01
"""Seconds of work outside a cell below which a call records none: parsing an ordinary goal takes less, and
every call would have a figure of noise."""


@dataclass
class UsageMeter:
    """Sum of the usage of cells. `memory_limit_bytes`: limit of the cell with the highest peak."""

    cells: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    memory_limit_bytes: int = 0

    def add(self, usage: Usage, limits: Limits) -> None:
        self.cells += 1
        self.wall_s += usage.wall_s
        self.cpu_s += usage.cpu_s
        if usage.peak_memory_bytes >= self.peak_memory_bytes:
            self.peak_memory_bytes = usage.peak_memory_bytes
            self.memory_limit_bytes = limits.memory_bytes

    def facts(self) -> dict[str, float]:
        """Return the usage as a call records it; empty when no cell ran and little other time was used."""
        if not self.cells:
            return {"cpu_s": round(self.cpu_s, 3)} if self.cpu_s >= MIN_RECORDED_CPU_S else {}
        return {
            "cells": self.cells,
            "cpu_s": round(self.cpu_s, 3),
            "peak_memory_bytes": self.peak_memory_bytes,
            "memory_limit_bytes": self.memory_limit_bytes,
        }


Charge = Callable[[UUID, float], Awaitable[None]]
"""Charges CPU seconds to the quota of a user."""


async def charge_nobody(user_id: UUID, cpu_s: float) -> None:
    """Charge nothing: for runs without a user's quota."""


_METER: ContextVar[UsageMeter | None] = ContextVar("meter", default=None)


@contextmanager
def meter_usage() -> Iterator[UsageMeter]:
    """Count the usage of all cells run in this context and its tasks; an enclosing meter is charged too."""
    outer, meter = _METER.get(), UsageMeter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)
        if outer:
            # Of an inner meter only the time: its cells stand with the call that it meters.
            outer.cpu_s += meter.cpu_s


@contextmanager
def meter_thread() -> Iterator[None]:
    """Count the CPU time of this thread in the block, outside any cell, in the current meter."""
    start_s = time.thread_time()
    try:
        yield
    finally:
        if meter := _METER.get():
            meter.cpu_s += time.thread_time() - start_s


def count_cell(usage: Usage, limits: Limits) -> None:
    """Count one cell in the current meter, if there is one."""
    if meter := _METER.get():
        meter.add(usage, limits)


def read_usage() -> Usage | None:
    """Return the usage of the cells that the current meter has counted; None without a cell."""
    meter = _METER.get()
    return Usage(meter.wall_s, meter.cpu_s, meter.peak_memory_bytes) if meter and meter.cells else None


def count_cpu(cpu_s: float) -> None:
    """Count CPU seconds that this process used for a computation beside its cell."""
    if meter := _METER.get():
        meter.cpu_s += cpu_s
