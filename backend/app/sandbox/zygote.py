"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote CONTROL_FD CACHE TIER`, with an allow-listed environment, and
told what to do over that SEQPACKET socket. It runs no parallel region and keeps one thread, because only then
is a fork of it sound. When its worker ends, whatever the cause, the socket closes and it ends with its cells.

    to it    {"run": id, "trusted": ..., "limits": {...}, "output": folder} with four descriptors
             {"kill": id}
    from it  {"ready": {...}}
             {"ended": id, "status": ..., "reason": ..., "usage": {...}} with its folder, if it had one
"""

import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from app.sandbox import cell, limits
from app.sandbox.cell import Stage
from app.sandbox.contract import Limits
from app.sandbox.folders import ENTRIES_LIMIT
from app.sandbox.libraries import load
from app.sandbox.namespaces import bounded_folder, enter, fork_first_process
from app.sandbox.vitals import RunningCell, threads
from app.sandbox.walls import Tier, interpreter_paths, survey_host
from app.sandbox.wire import CONTROL_BYTES

SUPERVISE_S = 0.01


class Zygote:
    """Forks a cell for each request, watches the cells, reports how each ended."""

    def __init__(self, control: socket.socket, tier: Tier, proc: int, cache: Path) -> None:
        self._control = control
        self._proc = proc
        self._cells: dict[int, RunningCell] = {}  # by pidfd
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
        facts = {"tier": self._stage.tier, "missing": missing, "threads": threads(self._proc, os.getpid())}
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
        try:
            one = self._start(order, descriptors)
        except OSError as error:
            self._tell_end(order["run"], status=1, reason=f"it could not be started: {error}")
        else:
            self._cells[one.pidfd] = one
            self._poll.register(one.pidfd, select.POLLIN)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, order: dict[str, Any], descriptors: list[int]) -> RunningCell:
        bounds = Limits(**order["limits"])
        isolated = self._stage.tier is Tier.NAMESPACES
        bounded = isolated and not order["trusted"]
        folder = bounded_folder(bounds.disk_bytes, ENTRIES_LIMIT) if bounded else None
        started = time.monotonic()
        pid = fork_first_process(self._self) if isolated else os.fork()
        if pid == 0:
            os.setsid()
            cell.live(self._stage, _take(descriptors, folder))
        pidfd = os.pidfd_open(pid)
        return RunningCell(order["run"], pid, pidfd, bounds, Path(order["output"]), folder, started)

    def _supervise(self) -> None:
        for one in self._cells.values():
            if offence := one.offence(self._proc):
                one.kill(offence)

    def _bury(self, one: RunningCell) -> None:
        """Reap a cell that ended, and whatever it left running, and tell the worker."""
        one.kill_group()
        _, status, used = os.wait4(one.pid, 0)
        self._poll.unregister(one.pidfd)
        del self._cells[one.pidfd]
        os.close(one.pidfd)
        self._tell_end(
            one.id,
            status=os.waitstatus_to_exitcode(status),
            reason=one.reason,
            wall_s=time.monotonic() - one.started,
            cpu_s=used.ru_utime + used.ru_stime,
            peak_memory_bytes=max(0, used.ru_maxrss * 1024 - self._idle_memory),
            folder=one.folder,
        )
        if one.folder is not None:
            os.close(one.folder)

    def _tell_end(
        self,
        run: int,
        *,
        status: int,
        reason: str | None,
        wall_s: float = 0.0,
        cpu_s: float = 0.0,
        peak_memory_bytes: int = 0,
        folder: int | None = None,
    ) -> None:
        usage = {"wall_s": wall_s, "cpu_s": cpu_s, "peak_memory_bytes": peak_memory_bytes}
        self._send({"ended": run, "status": status, "reason": reason, "usage": usage}, folder)

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
    aside = [os.dup2(descriptor, 1_000 + at) for at, descriptor in enumerate(wanted)]
    for place, descriptor in enumerate(aside):
        os.dup2(descriptor, place)
    os.closerange(len(wanted), 4_096)
    return None if folder is None else len(wanted) - 1


def main() -> None:
    control_fd, cache, wanted = sys.argv[1:]
    control = socket.socket(fileno=int(control_fd))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the worker's to act on
    tier, missing = survey_host() if wanted == "best" else (Tier(wanted), {})
    isolated = tier is Tier.NAMESPACES
    proc = enter() if isolated else os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    load()
    Zygote(control, tier, proc, Path(cache)).serve(missing)
    os._exit(0)  # nothing of ours is left to tidy, and libraries complain about what they tidy


if __name__ == "__main__":
    main()
