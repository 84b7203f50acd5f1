"""Cells that wait for their request: forked, and prepared as far as can be, while nobody waits for them.

A spare serves one request like any other cell, and stands behind every wall before it reads a byte of it.
Spares end with their zygote, and when nothing has been asked for a while.
"""

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from app.sandbox.supervision import Vitals, read_vitals

SPARE_COUNT = 2
MAX_IDLE_S = 60.0


@dataclass(frozen=True)
class SpareCell:
    """`cue`: where it hears of its request, and says that it has answered."""

    pid: int
    cell_socket: socket.socket

    def send_request(self, descriptors: list[int]) -> None:
        """Give it its request; raises OSError if it has ended."""
        socket.send_fds(self.cell_socket, [b"!"], descriptors)

    def end(self) -> None:
        self.cell_socket.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class SpareCells:
    """`fork`: as os.fork, of the process that they come from. `wait`: what a new cell does; never returns.

    `proc`: a descriptor of /proc as that process sees it.
    """

    def __init__(self, fork: Callable[[], int], wait: Callable[[socket.socket], NoReturn], proc: int) -> None:
        self._fork = fork
        self._run_cell = wait
        self._proc = proc
        self._waiting: list[SpareCell] = []
        self._target_count = 0

    @property
    def is_short(self) -> bool:
        return len(self._waiting) < self._target_count

    @property
    def has_idle(self) -> bool:
        return bool(self._waiting)

    def assign(self, descriptors: list[int]) -> tuple[SpareCell, Vitals]:
        """A cell that has these descriptors now, and what it was before it began."""
        self._target_count = SPARE_COUNT
        while True:
            is_new = not self._waiting
            spare = self._fork_cell() if is_new else self._waiting.pop(0)
            before = read_vitals(self._proc, spare.pid)
            try:
                if before.threads != 1:  # it has died, or a wall would not bind all of it
                    raise ChildProcessError(f"a cell was not fit: it had {before.threads} threads")
                spare.send_request(descriptors)
                return spare, before
            except OSError:
                spare.end()
                if is_new:
                    raise

    def add(self) -> None:
        self._waiting.append(self._fork_cell())

    def release(self) -> None:
        """End those that wait, until the next request."""
        self._target_count = 0
        while self._waiting:
            self._waiting.pop().end()

    def _fork_cell(self) -> SpareCell:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            pid = self._fork()
            if pid == 0:
                try:
                    self._run_cell(its)
                finally:
                    os._exit(1)  # whatever went wrong: it is no zygote
        return SpareCell(pid, ours)
