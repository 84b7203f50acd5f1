"""A running cell as its zygote sees it: whether it keeps to its limits, and how it is killed."""

import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.contract import Limits
from app.sandbox.folders import survey

THREADS_LIMIT = 300


@dataclass
class RunningCell:
    """`id` is its client's name for it. `folder`: a descriptor of its own filesystem, where it has one, whose
    bounds the kernel keeps.
    """

    client: socket.socket
    id: int
    pid: int
    pidfd: int
    limits: Limits
    output: Path
    folder: int | None
    started: float
    reason: str | None = None  # why we killed it

    def offence(self, proc: int) -> str | None:
        """The limit that it has passed, of those that the kernel does not keep for us."""
        if time.monotonic() >= self.started + self.limits.time_s:
            return "timed_out"
        if self.folder is None and survey(self.output).exceeds(self.limits.disk_bytes):
            return "out_of_disk"
        if threads(proc, self.pid) > THREADS_LIMIT:
            return "too many threads"
        return None

    def kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.kill_group()
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def kill_group(self) -> None:
        """Whatever it started, should it ever start anything."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # it has not made its group yet, or all have ended


def threads(proc: int, pid: int) -> int:
    """Threads of a process, from the /proc that the descriptor `proc` is; 0 when it has ended."""
    try:
        file = os.open(f"{pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        with os.fdopen(file) as stat:
            return int(stat.read().rpartition(")")[2].split()[17])
    except (FileNotFoundError, ProcessLookupError):
        return 0
