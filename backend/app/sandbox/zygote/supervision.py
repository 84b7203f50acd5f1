"""Running cells as their zygote sees them: the limits that no kernel interface enforces, and killing."""

import os
import resource
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.exchange.contract import Limits
from app.sandbox.outputs.folders import survey

MAX_THREADS = 300
"""Threads of a cell. Libraries use `Limits.threads` of them and a few pools; RLIMIT_NPROC would count all
processes of the service's user, so the zygote counts."""
WATCH_INTERVAL_S = 0.1
"""Seconds between looks at the deadline and the threads of a cell whose disk the kernel bounds."""
DISK_WATCH_INTERVAL_S = 0.01
"""Seconds between surveys of an output folder: a cell overshoots its limit by what it writes meanwhile."""
STOP_WATCH_INTERVAL_S = 0.001
"""Seconds between looks at a cell that was sent SIGSTOP: its client waits for the answer."""


@dataclass(eq=False)
class RunningCell:
    """A cell that serves a request. `id` is the client's number of the request.

    `folder`: descriptor of the cell's own filesystem, where it has one; the kernel bounds that one.
    `cell_socket`: the socket on which the cell announces its answer. `started`: monotonic seconds.
    """

    client: socket.socket
    id: int
    pid: int
    pidfd: int
    limits: Limits
    output: Path
    folder: int | None
    cell_socket: socket.socket
    started: float
    initial_vitals: "Vitals"
    initial_oom_kills: int | None  # not counted for trusted work
    reason: str | None = None  # of the kill by the zygote
    is_stopping: bool = False
    is_over: bool = False  # the end was reported to the client

    def exceeded_limit(self, proc: int) -> str | None:
        """Return the first limit that the cell exceeds, of those that the kernel does not enforce."""
        if time.monotonic() >= self.started + self.limits.time_s:
            return "timed_out"
        if self.folder is None and survey(self.output).exceeds(self.limits.disk_bytes):
            return "out_of_disk"
        if read_vitals(proc, self.pid).threads > MAX_THREADS:
            return "too many threads"
        return None

    def next_check_s(self) -> float:
        """Return the seconds until the cell has to be looked at again."""
        if self.is_over:
            return WATCH_INTERVAL_S
        if self.is_stopping:
            return STOP_WATCH_INTERVAL_S
        remaining_s = self.started + self.limits.time_s - time.monotonic()
        interval_s = DISK_WATCH_INTERVAL_S if self.folder is None else WATCH_INTERVAL_S
        return min(interval_s, max(0.0, remaining_s))

    def oom_kills_since_start(self, proc: int) -> int | None:
        """Count the processes of the host that the kernel has killed for want of memory since the start."""
        now = count_oom_kills(proc)
        return None if now is None or self.initial_oom_kills is None else now - self.initial_oom_kills

    def stop(self) -> None:
        """Stop a cell that has answered: no code of it may run on while its output is taken."""
        self.is_stopping = True
        signal.pidfd_send_signal(self.pidfd, signal.SIGSTOP)

    def kill(self, reason: str) -> None:
        # The first reason is the cause; later ones follow from the kill.
        self.reason = self.reason or reason
        self.end()

    def end(self) -> None:
        self.kill_group()
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def kill_group(self) -> None:
        """Kill the cell's process group, should it ever have started a process."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # the cell has not made its group yet, or all its processes have ended


def count_oom_kills(proc: int) -> int | None:
    """Count the processes that the kernel has killed for want of memory since boot; None where unknown."""
    try:
        file = os.open("vmstat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return None
    with os.fdopen(file, "rb") as counters:
        _, name, values = counters.read().partition(b"\noom_kill ")
    return int(values.split()[0]) if name else None


@dataclass(frozen=True)
class Vitals:
    """Threads of a process, and its resident memory in bytes, shared pages included."""

    threads: int
    memory_bytes: int


def read_vitals(proc: int, pid: int) -> Vitals:
    """Read the vitals from the /proc of descriptor `proc`; zeros when the process has ended."""
    try:
        file = os.open(f"{pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        with os.fdopen(file) as stat:
            # The name in parentheses may hold blanks and parentheses itself: fields are counted after the last.
            words = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Vitals(0, 0)
    return Vitals(threads=int(words[17]), memory_bytes=int(words[21]) * resource.getpagesize())
