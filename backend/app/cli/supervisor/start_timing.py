"""Timing of a start by stages: the longest chain of things that wait for each other."""

import os
import time
from collections.abc import Callable
from pathlib import Path


class StartTiming:
    """Seconds of each stage, from the start of this process on.

    `chain_s`: seconds of the longest chain of work. Stages in which this process computes count with its
    processor time there, so that the chain is as long on a machine that others use.
    """

    def __init__(self, announce: Callable[[str], object] = lambda stage: None) -> None:
        """`announce` is given what begins, when the stage before it has ended."""
        self._announce = announce
        self._began = self._last = _process_start_s()
        self._used_s = 0.0
        self.seconds: dict[str, float] = {}
        self.chain_s = 0.0
        self.end("this command")

    def end(self, stage: str, waited: bool = False, next_stage: str = "") -> None:
        """Note that a stage has ended, and the next begins. `waited`: it was the work of other processes;
        `next_stage`: the next one, as it is announced.
        """
        now, used_s = time.monotonic(), time.process_time()
        self.seconds[stage] = now - self._last
        self.chain_s += self.seconds[stage] if waited else used_s - self._used_s
        self._last, self._used_s = now, used_s
        if next_stage:
            self._announce(next_stage)

    @property
    def total_s(self) -> float:
        return self._last - self._began

    def describe(self) -> str:
        """Total, chain and stages, without those below 50 ms: `3.1 s, chain 2.9 s (this command 0.3, ...)`."""
        stages = ", ".join(
            f"{name} {duration_s:.1f}" for name, duration_s in self.seconds.items() if duration_s >= 0.05
        )
        return f"{self.total_s:.1f} s, longest chain of work {self.chain_s:.1f} s ({stages})"


def _process_start_s() -> float:
    """Time of `time.monotonic()` at which this process began; now where the kernel does not tell."""
    try:
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return time.monotonic()
    since_boot = ticks / os.sysconf("SC_CLK_TCK")
    return time.monotonic() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
