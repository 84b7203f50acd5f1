"""Spare cells: forked and prepared before there is a request, while no client waits for them.

A spare serves one request like any other cell, and is fully isolated before it reads a byte of its data.
Spares end with their zygote, and when no request has come for a while.
"""

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from app.sandbox.zygote.supervision import Vitals, read_vitals

SPARE_COUNT = 2
"""Spares that are kept ready: one for the next request, and one while that is being replaced."""
MAX_IDLE_S = 60.0
"""Seconds without a request after which the spares end: each holds about 4 MB of its own."""


@dataclass(frozen=True)
class SpareCell:
    """A cell without a request. `cell_socket`: it receives its request there, and announces its answer."""

    pid: int
    cell_socket: socket.socket

    def send_request(self, descriptors: list[int]) -> None:
        """Send the descriptors of a request. Raises OSError if the cell has ended."""
        socket.send_fds(self.cell_socket, [b"!"], descriptors)

    def end(self) -> None:
        self.cell_socket.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class SpareCells:
    """Pool of spare cells.

    `fork`: `os.fork` or a function like it. `run_cell`: body of a new cell; never returns. `proc`: a descriptor
    of the zygote's /proc.
    """

    def __init__(
        self, fork: Callable[[], int], run_cell: Callable[[socket.socket], NoReturn], proc: int
    ) -> None:
        self._fork = fork
        self._run_cell = run_cell
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
        """Send the descriptors to a spare, or to a new cell. Returns it, and its vitals before the request."""
        self._target_count = SPARE_COUNT
        while True:
            is_new = not self._waiting
            spare = self._fork_cell() if is_new else self._waiting.pop(0)
            initial_vitals = read_vitals(self._proc, spare.pid)
            try:
                # Zero threads: it has died. More than one: Landlock binds the calling thread only.
                if initial_vitals.threads != 1:
                    raise ChildProcessError(f"a cell has {initial_vitals.threads} threads instead of one")
                spare.send_request(descriptors)
                return spare, initial_vitals
            except OSError:
                spare.end()
                # A spare may have died while it waited; a new cell that fails would fail again.
                if is_new:
                    raise

    def add(self) -> None:
        self._waiting.append(self._fork_cell())

    def release(self) -> None:
        """End all spares; new ones are forked after the next request."""
        self._target_count = 0
        while self._waiting:
            self._waiting.pop().end()

    def _fork_cell(self) -> SpareCell:
        zygote_end, cell_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with cell_end:
            try:
                pid = self._fork()
            except OSError:
                zygote_end.close()
                raise
            if pid == 0:
                try:
                    self._run_cell(cell_end)
                finally:
                    os._exit(1)  # a cell that fails must not run on in the zygote's loop
        return SpareCell(pid, zygote_end)
