"""Limits that the kernel enforces on one cell, and the footprint of the zygote that they start from."""

import math
import resource
from dataclasses import dataclass
from pathlib import Path

from app.errors import is_disk_full
from app.sandbox.exchange.contract import End, Limits

MAX_OPEN_FILES = 512
"""Descriptors of a cell: bounds the pipes and other kernel objects that its memory limit does not count."""
CPU_GRACE_S = 2
"""Seconds added to the limit of processor time, so that a cell of one thread meets its deadline first."""
PER_THREAD_BYTES = 160 << 20
"""Address space of a thread: a stack and a malloc arena, which are reserved and mostly never touched."""
_EXTRA_THREADS = 8
"""Threads beside those of the request, with address space of their own: pyarrow alone reads files with 8."""


@dataclass(frozen=True)
class Footprint:
    """Memory that every cell inherits from its zygote, in bytes."""

    address_space: int
    data: int


def measure_footprint() -> Footprint:
    """Measure this process. Linux only."""
    pages = [int(word) for word in Path("/proc/self/statm").read_text().split()]
    return Footprint(pages[0] * resource.getpagesize(), pages[5] * resource.getpagesize())


def apply(limits: Limits, base: Footprint) -> None:
    """Limit this process for good: hard limits, so that it cannot lift them.

    RLIMIT_DATA counts private writable memory, which is the budget; RLIMIT_AS bounds shared mappings too, and
    leaves space for what threads reserve.
    """
    address_space = limits.memory_bytes + (limits.threads + _EXTRA_THREADS) * PER_THREAD_BYTES
    for kind, value in {
        # Beside what it shares with the zygote, which no cell has asked for.
        resource.RLIMIT_DATA: base.data + limits.memory_bytes,
        resource.RLIMIT_AS: base.address_space + address_space,
        resource.RLIMIT_CPU: cpu_limit_s(limits),
        resource.RLIMIT_FSIZE: limits.disk_bytes,
        resource.RLIMIT_NOFILE: MAX_OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }.items():
        _lower(kind, value)


def cpu_limit_s(limits: Limits) -> int:
    """Return the limit of processor time, all threads together, in seconds; the kernel ends a cell there."""
    return math.ceil(limits.time_s) * max(1, limits.threads) + CPU_GRACE_S


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    # An operator may run the service under lower hard limits, which only root could raise.
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (bound, bound))


def exhausted_limit(error: BaseException) -> End | None:
    """Return the limit that an exception inside a cell means, or None."""
    if isinstance(error, MemoryError):
        return End.OUT_OF_MEMORY
    if is_disk_full(error):
        return End.OUT_OF_DISK
    return None
