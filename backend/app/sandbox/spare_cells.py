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

from app.sandbox.supervision import Vitals, vitals

SPARES = 2
RELEASE_S = 60.0


@dataclass(frozen=True)
class Spare:
    """`cue`: where it hears of its request, and says that it has answered."""

    pid: int
    cue: socket.socket

    def hand_over(self, descriptors: list[int]) -> None:
        """Give it its request; raises OSError if it has ended."""
        socket.send_fds(self.cue, [b"!"], descriptors)

    def end(self) -> None:
        self.cue.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Spares:
    """`fork`: as os.fork, of the process that they come from. `wait`: what a new cell does; never returns.

    `proc`: a descriptor of /proc as that process sees it.
    """

    def __init__(self, fork: Callable[[], int], wait: Callable[[socket.socket], NoReturn], proc: int) -> None:
        self._fork = fork
        self._wait = wait
        self._proc = proc
        self._waiting: list[Spare] = []
        self._wanted = 0

    @property
    def lacking(self) -> bool:
        return len(self._waiting) < self._wanted

    @property
    def idle(self) -> bool:
        return bool(self._waiting)

    def assign(self, descriptors: list[int]) -> tuple[Spare, Vitals]:
        """A cell that has these descriptors now, and what it was before it began."""
        self._wanted = SPARES
        while True:
            is_new = not self._waiting
            spare = self._make() if is_new else self._waiting.pop(0)
            before = vitals(self._proc, spare.pid)
            try:
                if before.threads != 1:  # it has died, or a wall would not bind all of it
                    raise ChildProcessError(f"a cell was not fit: it had {before.threads} threads")
                spare.hand_over(descriptors)
                return spare, before
            except OSError:
                spare.end()
                if is_new:
                    raise

    def add(self) -> None:
        self._waiting.append(self._make())

    def release(self) -> None:
        """End those that wait, until the next request."""
        self._wanted = 0
        while self._waiting:
            self._waiting.pop().end()

    def _make(self) -> Spare:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            pid = self._fork()
            if pid == 0:
                try:
                    self._wait(its)
                finally:
                    os._exit(1)  # whatever went wrong: it is no zygote
        return Spare(pid, ours)
