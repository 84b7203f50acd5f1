"""Processor time and memory of a process with all that it started, read from /proc."""

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_TICKS = os.sysconf("SC_CLK_TCK")
_PAUSE_S = 0.25


def tree(pid: int) -> list[int]:
    """The process and everything below it that lives now."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                waiting += [int(child) for child in (thread / "children").read_text().split()]
    return found


def memory_bytes(pids: list[int]) -> int:
    """Proportional set size: memory that several share counts once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    return total


def cpu_s(pids: list[int]) -> float:
    """Seconds that the processes used, with those of children that they have buried."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
    return total / _TICKS


def busy_s() -> float:
    """Seconds that all processors of the machine have been busy since it started."""
    fields = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / _TICKS


@dataclass
class Watched:
    """`others_cores`: how many processors everybody else kept busy meanwhile, on average."""

    peak_mb: float = 0.0
    cpu_s: float = 0.0
    others_cores: float = 0.0


class Watch:
    """Looks at a process tree until the block ends; then `seen` holds what it saw."""

    def __init__(self, pid: int, clock_s: float) -> None:
        self.seen = Watched()
        self._pid = pid
        self._started_s = clock_s
        self._cpu_s = cpu_s(tree(pid))
        self._busy_s = busy_s()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def close(self, clock_s: float) -> Watched:
        """Call it after the block: what was seen, over the time since the watch began."""
        wall_s = max(clock_s - self._started_s, 1e-3)
        self.seen.others_cores = max(busy_s() - self._busy_s - self.seen.cpu_s, 0.0) / wall_s
        return self.seen

    def _look(self) -> None:
        while True:
            pids = tree(self._pid)
            self.seen.peak_mb = max(self.seen.peak_mb, memory_bytes(pids) / 2**20)
            self.seen.cpu_s = max(self.seen.cpu_s, cpu_s(pids) - self._cpu_s)
            if self._stop.wait(_PAUSE_S):
                return
