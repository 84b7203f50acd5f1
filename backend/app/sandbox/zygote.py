"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote CONTROL_FD CACHE TIER`, with an allow-listed environment, and
told what to do over that SEQPACKET socket. It runs no parallel region and keeps one thread, because only then
is a fork of it sound. When its worker ends, whatever the cause, the socket closes and it ends with its cells.

    to it    {"run": id, "trusted": ..., "limits": {...}, "output": folder} with four descriptors
             {"kill": id}
    from it  {"ready": {...}}
             {"ended": id, "status": ..., "reason": ..., "wall_s": ..., ...} with its folder, if it had one
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
from app.sandbox.cell import Stage
from app.sandbox.contract import Limits
from app.sandbox.folders import ENTRIES_LIMIT, survey
from app.sandbox.namespaces import bounded_folder, enter, fork_first_process
from app.sandbox.walls import Tier, interpreter_paths, survey_host
from app.sandbox.wire import CONTROL_BYTES

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

SUPERVISE_S = 0.01
THREADS_LIMIT = 300


@dataclass
class Cell:
    id: int
    pid: int
    pidfd: int
    limits: Limits
    output: Path
    folder: int | None  # its own filesystem, where it has one
    started: float
    reason: str | None = None  # why we killed it

    @property
    def deadline(self) -> float:
        return self.started + self.limits.time_s

    def offence(self, now: float) -> str | None:
        """The limit that it has passed, of those that the kernel does not keep for us."""
        if now >= self.deadline:
            return "timed_out"
        if self.folder is None and survey(self.output).exceeds(self.limits.disk_bytes):
            return "out_of_disk"
        if _threads(self.pid) > THREADS_LIMIT:
            return "too many threads"
        return None

    def kill(self, reason: str) -> None:
        self.reason = self.reason or reason
        _kill_group(self.pid)
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


class Zygote:
    """Forks a cell for each request, watches the cells, reports how each ended."""

    def __init__(self, control: socket.socket, tier: Tier, cache: Path) -> None:
        self._control = control
        self._cells: dict[int, Cell] = {}  # by pidfd
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._self = os.pidfd_open(os.getpid())
        self._stage = Stage(
            parent=0 if tier is Tier.NAMESPACES else os.getpid(),
            tier=tier,
            interpreter=interpreter_paths(cache),
            base=limits.footprint(),
            pools=ThreadpoolController(),
        )
        self._idle_memory = 0

    def serve(self, missing: dict[str, str]) -> None:
        """Until the worker's end of the control socket closes. `missing`: why stronger tiers do not work."""
        self._idle_memory = self._measure_an_idle_fork()
        facts = {"tier": self._stage.tier, "missing": missing, "threads": _threads(os.getpid())}
        self._send({"ready": facts})
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
        bounds = Limits(**order["limits"])
        isolated = self._stage.tier is Tier.NAMESPACES
        folder = bounded_folder(bounds.disk_bytes, ENTRIES_LIMIT) if isolated and not order["trusted"] else None
        started = time.monotonic()
        pid = fork_first_process(self._self) if isolated else os.fork()
        if pid == 0:
            os.setsid()
            cell.live(self._stage, _take(descriptors, folder))
        for descriptor in descriptors:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        self._cells[pidfd] = Cell(order["run"], pid, pidfd, bounds, Path(order["output"]), folder, started)
        self._poll.register(pidfd, select.POLLIN)

    def _supervise(self) -> None:
        now = time.monotonic()
        for one in self._cells.values():
            if offence := one.offence(now):
                one.kill(offence)

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
            },
            one.folder,
        )
        if one.folder is not None:
            os.close(one.folder)

    def _measure_an_idle_fork(self) -> int:
        """Peak memory of a cell that does nothing: the pages that it shares with us. Bytes."""
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        return os.wait4(pid, 0)[2].ru_maxrss * 1024

    def _send(self, message: dict[str, object], folder: int | None = None) -> None:
        descriptors = [] if folder is None else [folder]
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)
        except OSError:
            return  # the worker is gone; the next poll says so

    def _end(self) -> None:
        for one in self._cells.values():
            one.kill("worker ended")
        for one in list(self._cells.values()):
            os.waitpid(one.pid, 0)


def _take(descriptors: list[int], folder: int | None) -> int | None:
    """In a new cell: give its descriptors their places and close all others. The new number of `folder`."""
    null = os.open(os.devnull, os.O_RDONLY)
    wanted = [null, *descriptors] + ([] if folder is None else [folder])
    # First out of the way of the places, then into them.
    for place, descriptor in enumerate(
        [os.dup2(descriptor, 1_000 + at) for at, descriptor in enumerate(wanted)]
    ):
        os.dup2(descriptor, place)
    os.closerange(len(wanted), 4_096)
    return None if folder is None else len(wanted) - 1


def _threads(pid: int) -> int:
    """Threads of a process; 0 when it has ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(after_name[17])


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
    control_fd, cache, wanted = sys.argv[1:]
    control = socket.socket(fileno=int(control_fd))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the worker's to act on
    tier, missing = survey_host() if wanted == "best" else (Tier(wanted), {})
    if tier is Tier.NAMESPACES:
        enter()
    load()
    Zygote(control, tier, Path(cache)).serve(missing)
    os._exit(0)  # nothing of ours is left to tidy, and libraries complain about what they tidy


if __name__ == "__main__":
    main()
