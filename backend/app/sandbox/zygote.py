"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote CONTROL_FD`, with an allow-listed environment, and told what
to do over that SEQPACKET socket. It runs no parallel region and keeps one thread, because only then is a fork
of it a sound process. When its worker ends, whatever the cause, the socket closes and it ends with its cells.

    to it    {"run": id, "limits": {...}, "output": folder} with four descriptors     {"kill": id}
    from it  {"ready": {...}}     {"ended": id, "status": ..., "reason": ..., "wall_s": ..., ...}
"""

import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

import app.computations
from app.sandbox import cell, limits
from app.sandbox.contract import Limits
from app.sandbox.wire import CONTROL_BYTES, REPORT, REQUEST, STDERR, STDIN, STDOUT

LIBRARIES = (
    "duckdb",
    "matplotlib.figure",
    "matplotlib.pyplot",
    "pandas",
    "pyarrow.parquet",
    "scipy.stats",
    "seaborn",
    "skops.io",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.impute",
    "sklearn.inspection",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "statsmodels.api",
    "xgboost",
)

SUPERVISE_S = 0.02


@dataclass
class Cell:
    id: int
    pid: int
    pidfd: int
    limits: Limits
    output: Path
    started: float
    reason: str | None = None  # why we killed it

    @property
    def deadline(self) -> float:
        return self.started + self.limits.time_s

    def kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        _kill_group(self.pid)
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


class Zygote:
    """Forks a cell for each request, watches the cells, reports how each ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._cells: dict[int, Cell] = {}  # by pidfd
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._base = limits.footprint()
        self._pools = ThreadpoolController()
        self._idle_memory = 0

    def serve(self) -> None:
        """Until the worker's end of the control socket closes."""
        self._idle_memory = self._measure_an_idle_fork()
        threads = len(list(Path("/proc/self/task").iterdir()))
        self._send({"ready": {"threads": threads, "memory_bytes": self._idle_memory}})
        while True:
            for descriptor, _ in self._poll.poll(self._pause_ms()):
                if descriptor in self._cells:
                    self._bury(self._cells[descriptor])
                elif not self._obey():
                    self._end()
                    return
            self._supervise()

    def _pause_ms(self) -> int:
        return int(SUPERVISE_S * 1_000) if self._cells else -1

    def _obey(self) -> bool:
        """Do what one message says; False when the worker is gone."""
        message, descriptors, _, _ = socket.recv_fds(self._control, CONTROL_BYTES, 4)
        if not message:
            return False
        order = json.loads(message)
        if "kill" in order:
            for one in self._cells.values():
                if one.id == order["kill"]:
                    one.kill("cancelled")
        else:
            self._fork(order, descriptors)
        return True

    def _fork(self, order: dict[str, Any], descriptors: list[int]) -> None:
        parent = os.getpid()
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            _take(descriptors)
            cell.live(parent, self._base, self._pools)
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        self._cells[pidfd] = Cell(
            order["run"], pid, pidfd, Limits(**order["limits"]), Path(order["output"]), started
        )
        self._poll.register(pidfd, select.POLLIN)

    def _supervise(self) -> None:
        now = time.monotonic()
        for one in self._cells.values():
            if now >= one.deadline:
                one.kill("timed_out")

    def _bury(self, one: Cell) -> None:
        """Reap a cell that ended, and whatever it left running, and tell the worker."""
        _kill_group(one.pid)
        _, status, used = os.wait4(one.pid, 0)
        self._poll.unregister(one.pidfd)
        del self._cells[one.pidfd]
        os.close(one.pidfd)
        self._send(
            {
                "ended": one.id,
                "status": os.waitstatus_to_exitcode(status),
                "reason": one.reason,
                "wall_s": time.monotonic() - one.started,
                "cpu_s": used.ru_utime + used.ru_stime,
                "peak_memory_bytes": max(0, used.ru_maxrss * 1024 - self._idle_memory),
            }
        )

    def _measure_an_idle_fork(self) -> int:
        """Peak memory of a cell that does nothing: the pages that it shares with us. Bytes."""
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        return os.wait4(pid, 0)[2].ru_maxrss * 1024

    def _send(self, message: dict[str, object]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError:
            return  # the worker is gone; the next poll says so

    def _end(self) -> None:
        for one in self._cells.values():
            one.kill("worker ended")
        for one in list(self._cells.values()):
            os.waitpid(one.pid, 0)


def _take(descriptors: list[int]) -> None:
    """In a new cell: give its descriptors their places and close all others."""
    null = os.open(os.devnull, os.O_RDONLY)
    high = [os.dup2(descriptor, 100 + place) for place, descriptor in enumerate((null, *descriptors))]
    for place, descriptor in zip((STDIN, STDOUT, STDERR, REQUEST, REPORT), high, strict=True):
        os.dup2(descriptor, place)
    os.closerange(REPORT + 1, 4096)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # it has not made its group yet, or all have ended


def load() -> None:
    """Import what cells use, and let lazy parts settle, so that cells share the pages."""
    names = [*LIBRARIES, *(f"app.computations.{found.name}" for found in _computations())]
    for name in names:
        importlib.import_module(name)
    _warm()
    gc.collect()
    gc.freeze()


def _computations() -> list[pkgutil.ModuleInfo]:
    return list(pkgutil.iter_modules(app.computations.__path__))


def _warm() -> None:
    """First calls are slow in pandas and matplotlib: make them here, once, on one thread."""
    pandas = importlib.import_module("pandas")
    figure = importlib.import_module("matplotlib.figure").Figure()
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.groupby("b")["a"].sum()
    repr(frame)
    figure.subplots().plot([1, 2])
    figure.savefig(io.BytesIO())


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the worker's to act on
    load()
    Zygote(control).serve()
    os._exit(0)  # nothing of ours is left to tidy, and libraries complain about what they tidy


if __name__ == "__main__":
    main()
