"""Processor time and memory of a process and its descendants, read from /proc."""

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_TICKS = os.sysconf("SC_CLK_TCK")
_PAUSE_S = 0.25


def process_tree(process_id: int) -> list[int]:
    """Ids of a process and its living descendants."""
    process_ids, pending = [], [process_id]
    while pending:
        process_id = pending.pop()
        process_ids.append(process_id)
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{process_id}/task").iterdir():
                pending += [int(child) for child in (thread / "children").read_text().split()]
    return process_ids


def memory_bytes(process_ids: list[int]) -> int:
    """Proportional set size of several processes: shared memory counts once."""
    total = 0
    for process_id in process_ids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines()
            total += next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    return total


def cpu_s(process_ids: list[int]) -> float:
    """Processor seconds of processes, with those of their reaped children."""
    total = 0
    for process_id in process_ids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
    return total / _TICKS


def machine_busy_s() -> float:
    """Busy seconds of all processors of the machine since it started."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / _TICKS


@dataclass
class ResourceUsage:
    """Usage over one block; `others_cores` is the mean number of processors that other processes kept busy.

    The names of the fields are keys of stored result lines.
    """

    peak_mb: float = 0.0
    cpu_s: float = 0.0
    others_cores: float = 0.0


class ResourceMonitor:
    """Samples a process tree until the block ends; `usage` then holds its peak memory and processor time."""

    def __init__(self, process_id: int, now_s: float) -> None:
        self.usage = ResourceUsage()
        self._pid = process_id
        self._started_s = now_s
        self._initial_cpu_s = cpu_s(process_tree(process_id))
        self._initial_busy_s = machine_busy_s()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample_until_stopped, daemon=True)

    def __enter__(self) -> "ResourceMonitor":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def finish(self, now_s: float) -> ResourceUsage:
        """Return the usage after the block has ended, with the mean load of other processes."""
        wall_s = max(now_s - self._started_s, 1e-3)
        self.usage.others_cores = max(machine_busy_s() - self._initial_busy_s - self.usage.cpu_s, 0.0) / wall_s
        return self.usage

    def _sample_until_stopped(self) -> None:
        while True:
            process_ids = process_tree(self._pid)
            self.usage.peak_mb = max(self.usage.peak_mb, memory_bytes(process_ids) / 2**20)
            self.usage.cpu_s = max(self.usage.cpu_s, cpu_s(process_ids) - self._initial_cpu_s)
            if self._stop.wait(_PAUSE_S):
                return
