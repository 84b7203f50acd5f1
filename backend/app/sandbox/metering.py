"""What the cells of one call used, added up while it runs, those that failed too."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from app.sandbox.contract import Limits, Usage

MIN_RECORDED_CPU_S = 0.01
"""Of work outside a cell. An ordinary goal is read in less, and every call would have a figure of noise."""


@dataclass
class UsageMeter:
    """`memory_limit_bytes` is the bound of the cell whose peak is shown."""

    cells: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    memory_limit_bytes: int = 0

    def add(self, usage: Usage, limits: Limits) -> None:
        self.cells += 1
        self.cpu_s += usage.cpu_s
        if usage.peak_memory_bytes >= self.peak_memory_bytes:
            self.peak_memory_bytes = usage.peak_memory_bytes
            self.memory_limit_bytes = limits.memory_bytes

    def facts(self) -> dict[str, float]:
        """As a call records it; nothing when no cell ran and nothing else took time worth a record."""
        if not self.cells:
            return {"cpu_s": round(self.cpu_s, 3)} if self.cpu_s >= MIN_RECORDED_CPU_S else {}
        return {
            "cells": self.cells,
            "cpu_s": round(self.cpu_s, 3),
            "peak_memory_bytes": self.peak_memory_bytes,
            "memory_limit_bytes": self.memory_limit_bytes,
        }


Charge = Callable[[UUID, float], Awaitable[None]]
"""Takes CPU seconds out of what a user may use."""


async def charge_nobody(user_id: UUID, cpu_s: float) -> None:
    """Where there is nobody to charge."""


_METER: ContextVar[UsageMeter | None] = ContextVar("meter", default=None)


@contextmanager
def meter_usage() -> Iterator[UsageMeter]:
    """Every cell that is used inside, by any task that starts there, is counted, also for who meters around."""
    around, meter = _METER.get(), UsageMeter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)
        if around:
            around.cpu_s += meter.cpu_s


@contextmanager
def meter_thread() -> Iterator[None]:
    """Count the CPU time that this thread takes in the block, outside any cell, for whoever is metering."""
    begun = time.thread_time()
    try:
        yield
    finally:
        if meter := _METER.get():
            meter.cpu_s += time.thread_time() - begun


def count_cell(usage: Usage, limits: Limits) -> None:
    """Count one cell for whoever is metering, if anybody is."""
    if meter := _METER.get():
        meter.add(usage, limits)


def count_cpu(cpu_s: float) -> None:
    """Count processor time that this process used for a computation beside its cell."""
    if meter := _METER.get():
        meter.cpu_s += cpu_s
