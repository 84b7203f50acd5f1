"""A running cell as its zygote sees it: whether it keeps to its limits, and how it is killed."""

import os
import resource
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.contract import Limits
from app.sandbox.folders import survey

MAX_THREADS = 300
WATCH_S, WATCH_DISK_S, STOPPING_S = 0.1, 0.01, 0.001


@dataclass(eq=False)
class RunningCell:
    """`id` is its client's name for it. `folder`: a descriptor of its own filesystem, where it has one, whose
    bounds the kernel keeps. `cue`: where it says that it has answered.
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
    initial_oom_kills: int | None  # not asked of trusted work
    reason: str | None = None  # why we killed it
    is_stopping: bool = False
    is_over: bool = False  # its client knows how it ended

    def exceeded_limit(self, proc: int) -> str | None:
        """The limit that it has passed, of those that the kernel does not keep for us."""
        if time.monotonic() >= self.started + self.limits.time_s:
            return "timed_out"
        if self.folder is None and survey(self.output).exceeds(self.limits.disk_bytes):
            return "out_of_disk"
        if read_vitals(proc, self.pid).threads > MAX_THREADS:
            return "too many threads"
        return None

    def next_check_s(self) -> float:
        """How long it may go unwatched."""
        if self.is_over:
            return WATCH_S
        if self.is_stopping:
            return STOPPING_S
        left = self.started + self.limits.time_s - time.monotonic()
        return min(WATCH_DISK_S if self.folder is None else WATCH_S, max(0.0, left))

    def oom_kills_since_start(self, proc: int) -> int | None:
        """Processes of the host that the kernel has ended since it started, for want of memory."""
        now = count_oom_kills(proc)
        return None if now is None or self.initial_oom_kills is None else now - self.initial_oom_kills

    def stop(self) -> None:
        """It has answered: whatever it may still run shall run no further."""
        self.is_stopping = True
        signal.pidfd_send_signal(self.pidfd, signal.SIGSTOP)

    def kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.end()

    def end(self) -> None:
        self.kill_group()
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def kill_group(self) -> None:
        """Whatever it started, should it ever start anything."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # it has not made its group yet, or all have ended


def count_oom_kills(proc: int) -> int | None:
    """Processes that this kernel has ended for want of memory since it started; None if it does not say."""
    try:
        file = os.open("vmstat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return None
    with os.fdopen(file, "rb") as counters:
        _, name, rest = counters.read().partition(b"\noom_kill ")
    return int(rest.split()[0]) if name else None


@dataclass(frozen=True)
class Vitals:
    """Of a process: its threads, and the memory that it has mapped, shared pages included."""

    threads: int
    memory_bytes: int


def read_vitals(proc: int, pid: int) -> Vitals:
    """From the /proc that the descriptor `proc` is; zeros when the process has ended."""
    try:
        file = os.open(f"{pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        with os.fdopen(file) as stat:
            words = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Vitals(0, 0)
    return Vitals(threads=int(words[17]), memory_bytes=int(words[21]) * resource.getpagesize())
