"""Timing of a start by stages: the longest chain of things that wait for each other."""

import os
import time
from pathlib import Path


class StartTiming:
    """Seconds of each stage, from the start of this process on."""

    def __init__(self) -> None:
        self._began = self._last = _process_start_s()
        self.seconds: dict[str, float] = {}
        self.end("this command")

    def end(self, stage: str) -> None:
        """Note that a stage has ended, and the next begins."""
        now = time.monotonic()
        self.seconds[stage] = now - self._last
        self._last = now

    def describe(self) -> str:
        """Total and stages, without those below 50 ms: `3.1 s (imports of the API 1.2, ...)`."""
        chain = ", ".join(
            f"{name} {duration_s:.1f}" for name, duration_s in self.seconds.items() if duration_s >= 0.05
        )
        return f"{self._last - self._began:.1f} s ({chain})"


def _process_start_s() -> float:
    """Time of `time.monotonic()` at which this process began; now where the kernel does not tell."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return time.monotonic()
    since_boot = ticks / os.sysconf("SC_CLK_TCK")
    return time.monotonic() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
