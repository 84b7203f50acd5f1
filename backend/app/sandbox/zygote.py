"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote SOCKET_FD CACHE TIER [lifeline]`, with an allow-listed
environment. The SEQPACKET socket is connected to one client, with whom it lives and ends; or it listens, and
serves the host. With a lifeline it ends when its standard input does.
It runs no parallel region and keeps one thread, because only then is a fork of it sound. When a client ends,
whatever the cause, its connection closes and its cells end.

    to it    {"run": id, "trusted": ..., "limits": {...}, "output": folder} with four descriptors
             {"kill": id}
    from it  {"ready": {...}}
             {"ended": id, "status": ..., "reason": ..., "usage": {...}, "oom_kills": ...} with its folder,
             if it had one
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from threadpoolctl import ThreadpoolController

from app.sandbox import cell, limits
from app.sandbox.cell import CellSetup
from app.sandbox.contract import Limits
from app.sandbox.folders import MAX_ENTRIES
from app.sandbox.kernel.namespaces import create_bounded_filesystem, enter_namespaces, fork_first_process
from app.sandbox.libraries import load_libraries
from app.sandbox.spare_cells import MAX_IDLE_S, SpareCells
from app.sandbox.supervision import RunningCell, count_oom_kills, read_vitals
from app.sandbox.walls import Tier, interpreter_paths, survey_host
from app.sandbox.wire import MAX_CONTROL_BYTES

SPARE_DELAY_S = 0.01
"""Most cells answer within this time. A fork takes most of it: the next spare waits while there is another."""


class Zygote:
    """Forks a cell for each request, watches the cells, reports how each ended."""

    def __init__(self, tier: Tier, proc: int, cache: Path) -> None:
        self._proc = proc
        self._clients: list[socket.socket] = []
        self._is_shared = False
        self._cells: list[RunningCell] = []
        self._poll = select.poll()
        self._on_event: dict[int, Callable[[], None]] = {}  # by descriptor
        self._self = os.pidfd_open(os.getpid())
        self._setup = CellSetup(
            parent=0 if tier is Tier.NAMESPACES else os.getpid(),
            tier=tier,
            interpreter=interpreter_paths(cache),
            base=limits.measure_footprint(),
            pools=ThreadpoolController(),
        )
        isolated = tier is Tier.NAMESPACES
        fork = partial(fork_first_process, self._self) if isolated else os.fork
        self._spares = SpareCells(fork, partial(cell.serve_requests, self._setup), proc)

    def serve(self, door: socket.socket, missing: dict[str, str], lifeline: int | None) -> None:
        """`door` is one client's connection, or listens for them. `missing`: why stronger tiers do not work."""
        if lifeline is not None:
            self._watch(lifeline, self.finish)
        facts = {"tier": self._setup.tier, "missing": missing}
        if door.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            self._watch(door.fileno(), lambda: self._add_client(door.accept()[0], facts))
            self._is_shared = True
        else:
            self._add_client(door, facts)
        while self._is_shared or self._clients:
            # Looked up before any is called: what one closes, another may open under the same number.
            events = [self._on_event[descriptor] for descriptor, _ in self._poll.poll(self._pause_ms())]
            for act in events:
                act()
            self._supervise()
            if not events:
                self._adjust_spares()

    def _watch(self, descriptor: int, act: Callable[[], None]) -> None:
        self._on_event[descriptor] = act
        self._poll.register(descriptor, select.POLLIN)

    def _unwatch(self, descriptor: int) -> None:
        del self._on_event[descriptor]
        self._poll.unregister(descriptor)

    def finish(self) -> NoReturn:
        self._spares.release()
        os._exit(0)  # nothing of ours is left to tidy, and libraries complain about what they tidy

    def _pause_ms(self) -> float:
        """How long to wait for events; negative: until there is one."""
        patience_s = min((one.next_check_s() for one in self._cells), default=SPARE_DELAY_S)
        if self._spares.is_short:
            return 1_000 * min(SPARE_DELAY_S, patience_s) if self._spares.has_idle else 0
        if self._cells:
            return 1_000 * patience_s
        return 1_000 * MAX_IDLE_S if self._spares.has_idle else -1

    def _adjust_spares(self) -> None:
        if self._spares.is_short:
            self._spares.add()
        elif not self._cells:
            self._spares.release()

    def _add_client(self, client: socket.socket, facts: Mapping[str, object]) -> None:
        self._clients.append(client)
        self._watch(client.fileno(), partial(self._handle_message, client))
        _send(client, {"ready": facts})

    def _handle_message(self, client: socket.socket) -> None:
        """Do what one message says; no message means that the client is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(client, MAX_CONTROL_BYTES, 4)
        except ConnectionError:
            message, descriptors = b"", []
        order = json.loads(message) if message else {}
        if not message:
            self._remove_client(client)
        elif "kill" in order:
            for one in self._cells_of(client):
                if one.id == order["kill"]:
                    one.kill("cancelled")
        else:
            self._fork(client, order, descriptors)

    def _cells_of(self, client: socket.socket) -> list[RunningCell]:
        return [one for one in self._cells if one.client is client]

    def _remove_client(self, client: socket.socket) -> None:
        """End a client's cells, then close: the closing tells a client that waits that they have ended."""
        for one in self._cells_of(client):
            one.kill("its client ended")
        for one in self._cells_of(client):
            self._reap(one)
        self._unwatch(client.fileno())
        self._clients.remove(client)
        client.close()

    def _fork(self, client: socket.socket, order: dict[str, Any], descriptors: list[int]) -> None:
        try:
            one = self._start(client, order, descriptors)
        except OSError as error:
            reason = f"it could not be started: {error}"
            usage = {"wall_s": 0.0, "cpu_s": 0.0, "peak_memory_bytes": 0}
            end = {"ended": order["run"], "status": 1, "reason": reason, "usage": usage, "oom_kills": None}
            _send(client, end)
        else:
            self._cells.append(one)
            self._watch(one.pidfd, partial(self._reap, one))
            self._watch(one.cell_socket.fileno(), partial(self._on_cell_socket, one))
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, client: socket.socket, order: dict[str, Any], descriptors: list[int]) -> RunningCell:
        bounds = Limits(**order["limits"])
        isolated = self._setup.tier is Tier.NAMESPACES
        bounded = isolated and not order["trusted"]
        folder = create_bounded_filesystem(bounds.disk_bytes, MAX_ENTRIES) if bounded else None
        started = time.monotonic()
        spare, before = self._spares.assign([*descriptors, *([] if folder is None else [folder])])
        return RunningCell(
            client=client,
            id=order["run"],
            pid=spare.pid,
            pidfd=os.pidfd_open(spare.pid),
            limits=bounds,
            output=Path(order["output"]),
            folder=folder,
            cell_socket=spare.cell_socket,
            started=started,
            initial_vitals=before,
            initial_oom_kills=None if order["trusted"] else count_oom_kills(self._proc),
        )

    def _supervise(self) -> None:
        for one in [*self._cells]:
            if one.is_over:
                continue
            if one.is_stopping:
                self._check_stopping(one)
            elif offence := one.exceeded_limit(self._proc):
                one.kill(offence)

    def _on_cell_socket(self, one: RunningCell) -> None:
        """It says that it has answered; or it is ending, and says nothing."""
        if one not in self._cells:
            return
        if one.cell_socket.recv(1):
            one.stop()
        self._close_cell_socket(one)

    def _close_cell_socket(self, one: RunningCell) -> None:
        if one.cell_socket.fileno() >= 0:
            self._unwatch(one.cell_socket.fileno())
            one.cell_socket.close()

    def _check_stopping(self, one: RunningCell) -> None:
        """Tell how it ended as soon as all its threads have stopped: it will not run again, only end.

        To end takes a process of this size as long as a small computation.
        """
        if one.exceeded_limit(self._proc) == "timed_out":
            one.kill("timed_out")
        pid, status, used = os.wait4(one.pid, os.WNOHANG | os.WUNTRACED)
        if pid and os.WIFSTOPPED(status):
            one.end()
            self._report_end(one, 0, used)
        elif pid:
            self._forget_cell(one, os.waitstatus_to_exitcode(status), used)

    def _reap(self, one: RunningCell) -> None:
        """Reap a cell that ended, and whatever it left running, and tell its client."""
        if one in self._cells:
            one.kill_group()
            _, status, used = os.wait4(one.pid, 0)
            self._forget_cell(one, os.waitstatus_to_exitcode(status), used)

    def _forget_cell(self, one: RunningCell, status: int, used: resource.struct_rusage) -> None:
        self._unwatch(one.pidfd)
        os.close(one.pidfd)
        self._close_cell_socket(one)
        self._cells.remove(one)
        self._report_end(one, status, used)

    def _report_end(self, one: RunningCell, status: int, used: resource.struct_rusage) -> None:
        if one.is_over:
            return
        one.is_over = True
        usage = {
            "wall_s": time.monotonic() - one.started,
            "cpu_s": used.ru_utime + used.ru_stime,
            "peak_memory_bytes": max(0, used.ru_maxrss * 1024 - one.initial_vitals.memory_bytes),
        }
        end = {
            "ended": one.id,
            "status": status,
            "reason": one.reason,
            "usage": usage,
            "oom_kills": one.oom_kills_since_start(self._proc) if status == -signal.SIGKILL else None,
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


def main() -> None:
    socket_fd, cache, wanted, *lifeline = sys.argv[1:]
    door = socket.socket(fileno=int(socket_fd))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the client's to act on
    tier, missing = survey_host() if wanted == "best" else (Tier(wanted), {})
    isolated = tier is Tier.NAMESPACES
    proc = enter_namespaces() if isolated else os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    load_libraries()
    if read_vitals(proc, os.getpid()).threads != 1:
        sys.exit("A library started a thread when imported: forks of this process would not be sound.")
    zygote = Zygote(tier, proc, Path(cache))
    zygote.serve(door, missing, 0 if lifeline else None)
    zygote.finish()


if __name__ == "__main__":
    main()
