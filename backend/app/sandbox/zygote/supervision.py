"""Running cells as their zygote sees them: the limits that no kernel interface enforces, and killing."""

import os
import resource
import signal
import socket
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.sandbox.exchange.contract import Limits
from app.sandbox.outputs.folders import survey

WATCH_INTERVAL_S = 0.1
"""Seconds between looks at the deadline and the threads of a cell whose disk the kernel bounds."""
DISK_WATCH_INTERVAL_S = 0.01
"""Seconds between surveys of an output folder: a cell overshoots its limit by what it writes meanwhile."""
_BLOCK_BYTES = 512
"""Bytes of a block in `st_blocks`, whatever the file system's own are."""
_MEMORY_FILE = "/memfd:"
"""Beginning of the link of a descriptor of `memfd_create`."""
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
        if self.folder is None and self._exceeds_disk(proc):
            return "out_of_disk"
        # RLIMIT_NPROC would count all processes of the service's user, so the zygote counts.
        if read_vitals(proc, self.pid).threads > self.limits.max_threads:
            return "too many threads"
        return None

    def _exceeds_disk(self, proc: int) -> bool:
        """Compare what the output folder holds, and open files that have left it, with the limit."""
        content = survey(self.output)
        if content.exceeds(self.limits.disk_bytes):
            return True
        return content.size_bytes + count_unlinked_bytes(proc, self.pid) > self.limits.disk_bytes

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


def count_unlinked_bytes(proc: int, pid: int) -> int:
    """Count the bytes of files on disk that a process can write and that have no name any more.

    `proc`: descriptor of /proc. Zero where the kernel shows no descriptors of the process, as it does to users
    other than root: cells cannot be dumped. Files that only a mapping holds are not seen.
    """
    try:
        folder = os.open(f"{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return 0
    sizes: dict[tuple[int, int], int] = {}
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - a path cannot name an open folder
            with suppress(OSError):  # closed meanwhile
                # The mode of the link is that of the descriptor: an input may lose its name while it is read.
                if not os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & stat.S_IWUSR:
                    continue
                status = os.stat(name, dir_fd=folder)
                if not stat.S_ISREG(status.st_mode) or status.st_nlink:
                    continue
                # Files of memory have no name either, and count as memory.
                if not os.readlink(name, dir_fd=folder).startswith(_MEMORY_FILE):
                    size = max(status.st_size, status.st_blocks * _BLOCK_BYTES)
                    sizes[status.st_dev, status.st_ino] = size
    finally:
        os.close(folder)
    return sum(sizes.values())


@dataclass(frozen=True)
class Vitals:
    """Threads of a process, and its resident memory in bytes, shared pages included."""

    threads: int
    memory_bytes: int


def read_vitals(proc: int, pid: int) -> Vitals:
    """Read the vitals from the /proc of descriptor `proc`; zeros when the process has ended."""
    try:
        file = os.open(f"{pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        with os.fdopen(file) as fields:
            # The name in parentheses may hold blanks and parentheses itself: fields are counted after the last.
            words = fields.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Vitals(0, 0)
    return Vitals(threads=int(words[17]), memory_bytes=int(words[21]) * resource.getpagesize())
