"""Bounds that the kernel keeps for one cell, and the footprint of the zygote that they start from."""

import math
import resource
from dataclasses import dataclass
from pathlib import Path

from app.errors import is_disk_full
from app.sandbox.contract import End, Limits

MAX_OPEN_FILES = 512
CPU_GRACE_S = 2
"""Added to the processor's limit, so that a cell of one thread meets its deadline first."""
PER_THREAD_BYTES = 160 << 20
"""Address space, not memory: a thread's stack and malloc arena are reserved and mostly never touched."""


@dataclass(frozen=True)
class Footprint:
    """What every cell has from its zygote before it does anything. Bytes."""

    address_space: int
    data: int


def measure_footprint() -> Footprint:
    """Of this process."""
    pages = [int(word) for word in Path("/proc/self/statm").read_text().split()]
    return Footprint(pages[0] * resource.getpagesize(), pages[5] * resource.getpagesize())


def apply(limits: Limits, base: Footprint) -> None:
    """Bind this process for good: hard limits, so it cannot lift them.

    RLIMIT_DATA counts private memory that can be written, which is the budget; RLIMIT_AS bounds shared
    mappings too, and leaves room for what threads reserve.
    """
    room = limits.memory_bytes + (limits.threads + 8) * PER_THREAD_BYTES
    for kind, value in {
        resource.RLIMIT_DATA: base.data + limits.memory_bytes,
        resource.RLIMIT_AS: base.address_space + room,
        resource.RLIMIT_CPU: cpu_limit_s(limits),
        resource.RLIMIT_FSIZE: limits.disk_bytes,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }.items():
        _lower(kind, value)


def cpu_limit_s(limits: Limits) -> int:
    """Processor time of all threads; the kernel ends a cell there with SIGKILL."""
    return math.ceil(limits.time_s) * max(1, limits.threads) + CPU_GRACE_S


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bound, bound))


def exhausted_limit(error: BaseException) -> End | None:
    """The limit that an exception inside a cell speaks of."""
    if isinstance(error, MemoryError):
        return End.OUT_OF_MEMORY
    if is_disk_full(error):
        return End.OUT_OF_DISK
    return None
