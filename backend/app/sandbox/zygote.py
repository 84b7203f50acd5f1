"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote SOCKET_FD CACHE TIER [lifeline]`, with an allow-listed
environment. The SEQPACKET socket is connected to one client, with whom it lives and ends; or it listens, and
serves the host. With a lifeline it ends when its standard input does.
It runs no parallel region and keeps one thread, because only then is a fork of it sound. When a client ends,
whatever the cause, its connection closes and its cells end.

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
from collections.abc import Mapping
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

    def __init__(self, tier: Tier, proc: int, cache: Path) -> None:
        self._proc = proc
        self._clients: dict[int, socket.socket] = {}  # by descriptor
        self._cells: dict[int, RunningCell] = {}  # by pidfd
        self._poll = select.poll()
        self._self = os.pidfd_open(os.getpid())
        self._stage = Stage(
            parent=0 if tier is Tier.NAMESPACES else os.getpid(),
            tier=tier,
            interpreter=interpreter_paths(cache),
            base=limits.footprint(),
            pools=ThreadpoolController(),
        )
        self._idle_memory = _memory_of_an_idle_fork()

    def serve(self, door: socket.socket, missing: dict[str, str], lifeline: int | None) -> None:
        """`door` is one client's connection, or listens for them. `missing`: why stronger tiers do not work."""
        if lifeline is not None:
            self._poll.register(lifeline, select.POLLIN)
        facts = {"tier": self._stage.tier, "missing": missing}
        listens = bool(door.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        if listens:
            self._poll.register(door, select.POLLIN)
        else:
            self._welcome(door, facts)
        while listens or self._clients:
            for descriptor, _ in self._poll.poll(self._pause_ms()):
                if descriptor == lifeline:
                    return
                if descriptor in self._cells:
                    self._bury(self._cells[descriptor])
                elif descriptor in self._clients:
                    self._obey(self._clients[descriptor])
                elif listens and descriptor == door.fileno():
                    self._welcome(door.accept()[0], facts)
            self._supervise()

    def _pause_ms(self) -> int:
        return int(SUPERVISE_S * 1_000) if self._cells else -1

    def _welcome(self, client: socket.socket, facts: Mapping[str, object]) -> None:
        self._clients[client.fileno()] = client
        self._poll.register(client, select.POLLIN)
        _send(client, {"ready": facts})

    def _obey(self, client: socket.socket) -> None:
        """Do what one message says; no message means that the client is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(client, CONTROL_BYTES, 4)
        except ConnectionError:
            message, descriptors = b"", []
        order = json.loads(message) if message else {}
        if not message:
            self._dismiss(client)
        elif "kill" in order:
            for one in self._cells_of(client):
                if one.id == order["kill"]:
                    one.kill("cancelled")
        else:
            self._fork(client, order, descriptors)

    def _cells_of(self, client: socket.socket) -> list[RunningCell]:
        return [one for one in self._cells.values() if one.client is client]

    def _dismiss(self, client: socket.socket) -> None:
        """End a client's cells, then close: the closing tells a client that waits that they have ended."""
        for one in self._cells_of(client):
            one.kill("its client ended")
        for one in self._cells_of(client):
            self._bury(one)
        self._poll.unregister(client)
        del self._clients[client.fileno()]
        client.close()

    def _fork(self, client: socket.socket, order: dict[str, Any], descriptors: list[int]) -> None:
        try:
            one = self._start(client, order, descriptors)
        except OSError as error:
            reason = f"it could not be started: {error}"
            usage = {"wall_s": 0.0, "cpu_s": 0.0, "peak_memory_bytes": 0}
            _send(client, {"ended": order["run"], "status": 1, "reason": reason, "usage": usage})
        else:
            self._cells[one.pidfd] = one
            self._poll.register(one.pidfd, select.POLLIN)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, client: socket.socket, order: dict[str, Any], descriptors: list[int]) -> RunningCell:
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
        return RunningCell(client, order["run"], pid, pidfd, bounds, Path(order["output"]), folder, started)

    def _supervise(self) -> None:
        for one in self._cells.values():
            if offence := one.offence(self._proc):
                one.kill(offence)

    def _bury(self, one: RunningCell) -> None:
        """Reap a cell that ended, and whatever it left running, and tell its client."""
        one.kill_group()
        _, status, used = os.wait4(one.pid, 0)
        self._poll.unregister(one.pidfd)
        del self._cells[one.pidfd]
        os.close(one.pidfd)
        usage = {
            "wall_s": time.monotonic() - one.started,
            "cpu_s": used.ru_utime + used.ru_stime,
            "peak_memory_bytes": max(0, used.ru_maxrss * 1024 - self._idle_memory),
        }
        end = {
            "ended": one.id,
            "status": os.waitstatus_to_exitcode(status),
            "reason": one.reason,
            "usage": usage,
        }
        _send(one.client, end, one.folder)
        if one.folder is not None:
            os.close(one.folder)


def _send(client: socket.socket, message: Mapping[str, object], folder: int | None = None) -> None:
    descriptors = [] if folder is None else [folder]
    try:
        socket.send_fds(client, [json.dumps(message).encode()], descriptors)
    except OSError:
        return  # the client is gone; the next poll says so


def _memory_of_an_idle_fork() -> int:
    """Peak memory of a cell that does nothing: the pages that it shares with us. Bytes."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.wait4(pid, 0)[2].ru_maxrss * 1024


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
    socket_fd, cache, wanted, *lifeline = sys.argv[1:]
    door = socket.socket(fileno=int(socket_fd))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the client's to act on
    tier, missing = survey_host() if wanted == "best" else (Tier(wanted), {})
    isolated = tier is Tier.NAMESPACES
    proc = enter() if isolated else os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    load()
    if threads(proc, os.getpid()) != 1:
        sys.exit("A library started a thread when imported: forks of this process would not be sound.")
    Zygote(tier, proc, Path(cache)).serve(door, missing, 0 if lifeline else None)
    os._exit(0)  # nothing of ours is left to tidy, and libraries complain about what they tidy


if __name__ == "__main__":
    main()
