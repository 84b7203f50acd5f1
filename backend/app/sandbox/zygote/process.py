"""The process that cells are forked from: it has every library imported, and does nothing else.

Started by exec as `python -m app.sandbox.zygote.process SOCKET_FD CACHE TIER [lifeline]`, with an allow-listed
environment. The SEQPACKET socket is connected to one client, and the zygote ends with it; or it listens, and
serves the host. With a lifeline the zygote ends when its standard input does.
Uploads and questions (`first`) are served before the libraries of models are there. These are imported when
no request has come for a moment, one between two looks at the sockets; other requests wait until all are there.
It runs no parallel region and keeps one thread, because only then is a fork of it sound: a lock that another
thread held, such as OpenMP's, would stay locked in the child. When a client ends, whatever the cause, its
connection closes and its cells end.

    to it    {"run": id, "trusted": ..., "first": ..., "limits": {...}, "output": folder} with four descriptors
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
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from threadpoolctl import ThreadpoolController

from app.sandbox.exchange.contract import Limits
from app.sandbox.exchange.request_format import MAX_CONTROL_BYTES
from app.sandbox.kernel import limits
from app.sandbox.kernel.isolation import Tier, interpreter_paths, survey_host
from app.sandbox.kernel.namespaces import create_bounded_filesystem, enter_namespaces, fork_first_process
from app.sandbox.outputs.folders import MAX_ENTRIES
from app.sandbox.zygote import cell
from app.sandbox.zygote.cell import CellSetup
from app.sandbox.zygote.preloaded_libraries import load_first, remaining_steps
from app.sandbox.zygote.spare_cells import MAX_IDLE_S, SpareCells
from app.sandbox.zygote.supervision import RunningCell, count_oom_kills, read_vitals

QUIET_S = 1.0
"""Seconds without a request or a new client after which the libraries of models are imported: a service that
starts needs the processors itself, and the cells of an upload and of the question behind it are close."""
SPARE_DELAY_S = 0.01
"""Delay before the next spare is forked while another is ready. Most cells answer within it, and a fork would
take that time from them on the same processor."""


class Zygote:
    """Forks a cell for each request, watches the cells, reports how each ended."""

    def __init__(self, tier: Tier, proc: int, cache: Path) -> None:
        self._proc = proc
        self._clients: list[socket.socket] = []
        self._is_shared = False
        self._cells: list[RunningCell] = []
        self._poll = select.poll()
        self._on_event: dict[int, Callable[[], None]] = {}  # by descriptor
        self._own_pidfd = os.pidfd_open(os.getpid())
        self._cache = cache
        self._tier = tier
        self._remaining = deque(remaining_steps())
        self._load_at = time.monotonic() + QUIET_S
        self._prepare_cells()

    def _prepare_cells(self) -> None:
        """Measure this process as it is now, as what every later cell inherits."""
        self._setup = CellSetup(
            parent=0 if self._tier is Tier.NAMESPACES else os.getpid(),
            tier=self._tier,
            interpreter=interpreter_paths(self._cache),
            base=limits.measure_footprint(),
            pools=ThreadpoolController(),
        )
        isolated = self._tier is Tier.NAMESPACES
        fork = partial(fork_first_process, self._own_pidfd) if isolated else os.fork
        self._spares = SpareCells(fork, partial(cell.serve_requests, self._setup), self._proc)

    def _load_next(self) -> None:
        """Import one more library; after the last one, cells are forked from the complete process."""
        self._remaining.popleft()()
        if not self._remaining:
            _require_one_thread(self._proc)
            # Spares that were forked before lack the libraries.
            self._spares.release()
            # Measured anew: what was imported is memory that no cell has asked for.
            self._prepare_cells()

    def _load_all(self) -> None:
        while self._remaining:
            self._load_next()

    def _put_off_loading(self) -> None:
        self._load_at = time.monotonic() + QUIET_S

    def serve(self, listener: socket.socket, missing: dict[str, str], lifeline: int | None) -> None:
        """Serve until the clients have gone. `missing`: tier -> reason why that stronger tier does not work.

        `listener`: one client's connection, or a socket that listens for clients.
        """
        if lifeline is not None:
            self._watch(lifeline, self.finish)
        facts = {"tier": self._setup.tier, "missing": missing}
        if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            self._watch(listener.fileno(), lambda: self._add_client(listener.accept()[0], facts))
            self._is_shared = True
        else:
            self._add_client(listener, facts)
        while self._is_shared or self._clients:
            # Looked up before any is called: a descriptor that one closes, another may open under its number.
            handlers = [self._on_event[descriptor] for descriptor, _ in self._poll.poll(self._pause_ms())]
            for handle in handlers:
                handle()
            self._supervise()
            # Messages first: forking spares and importing take time from a client that waits.
            if handlers:
                continue
            self._adjust_spares()
            if self._loading_pause_s() == 0:
                self._load_next()

    def _watch(self, descriptor: int, handle: Callable[[], None]) -> None:
        self._on_event[descriptor] = handle
        self._poll.register(descriptor, select.POLLIN)

    def _unwatch(self, descriptor: int) -> None:
        del self._on_event[descriptor]
        self._poll.unregister(descriptor)

    def finish(self) -> NoReturn:
        self._spares.release()
        os._exit(0)  # nothing is left to clean up, and exit handlers of libraries complain while they run

    def _pause_ms(self) -> float:
        """Return the time to wait for events, in ms; negative: until there is one."""
        pauses_s = [running.next_check_s() for running in self._cells]
        if self._spares.is_short:
            pauses_s.append(SPARE_DELAY_S if self._spares.has_idle else 0)
        loading_pause_s = self._loading_pause_s()
        if loading_pause_s is not None:
            pauses_s.append(loading_pause_s)
        if pauses_s:
            return 1_000 * min(pauses_s)
        return 1_000 * MAX_IDLE_S if self._spares.has_idle else -1

    def _loading_pause_s(self) -> float | None:
        """Return the time until the next library is imported; None if there is none, or nobody needs it yet."""
        if not self._remaining or not self._clients:
            return None
        return max(0.0, self._load_at - time.monotonic())

    def _adjust_spares(self) -> None:
        if self._spares.is_short:
            self._spares.add()
        # Nothing has come for as long as the poll waits while spares are idle.
        elif not self._cells and not self._remaining:
            self._spares.release()

    def _add_client(self, client: socket.socket, facts: Mapping[str, object]) -> None:
        self._clients.append(client)
        self._put_off_loading()
        self._watch(client.fileno(), partial(self._handle_message, client))
        _send(client, {"ready": facts})

    def _handle_message(self, client: socket.socket) -> None:
        """Carry out one message; an empty one means that the client is gone."""
        try:
            message, descriptors, _, _ = socket.recv_fds(client, MAX_CONTROL_BYTES, 4)
        except ConnectionError:
            message, descriptors = b"", []
        request = json.loads(message) if message else {}
        if not message:
            self._remove_client(client)
        elif "kill" in request:
            for running in self._cells_of(client):
                if running.id == request["kill"]:
                    running.kill("cancelled")
        else:
            self._fork(client, request, descriptors)

    def _cells_of(self, client: socket.socket) -> list[RunningCell]:
        return [running for running in self._cells if running.client is client]

    def _remove_client(self, client: socket.socket) -> None:
        """End a client's cells, then close: by the close a client that waits knows that they have ended."""
        for running in self._cells_of(client):
            running.kill("its client ended")
        # All are killed before the first is waited for, so that they end at the same time.
        for running in self._cells_of(client):
            self._reap(running)
        self._unwatch(client.fileno())
        self._clients.remove(client)
        client.close()

    def _fork(self, client: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
        try:
            running = self._start(client, request, descriptors)
        except OSError as error:
            reason = f"it could not be started: {error}"
            usage = {"wall_s": 0.0, "cpu_s": 0.0, "peak_memory_bytes": 0}
            end = {"ended": request["run"], "status": 1, "reason": reason, "usage": usage, "oom_kills": None}
            _send(client, end)
        else:
            self._cells.append(running)
            self._watch(running.pidfd, partial(self._reap, running))
            self._watch(running.cell_socket.fileno(), partial(self._on_cell_socket, running))
        finally:
            # The cell has them now; a writing end that stays open here would keep its pipe from ending.
            for descriptor in descriptors:
                os.close(descriptor)

    def _start(self, client: socket.socket, request: dict[str, Any], descriptors: list[int]) -> RunningCell:
        # Before the clock below starts: the imports are no time of this request.
        if not request["first"]:
            self._load_all()
        bounds = Limits(**request["limits"])
        isolated = self._setup.tier is Tier.NAMESPACES
        # Trusted work writes to the host's folder: its files need no copy out, and may be streamed.
        bounded = isolated and not request["trusted"]
        folder = create_bounded_filesystem(bounds.disk_bytes, MAX_ENTRIES) if bounded else None
        started = time.monotonic()
        self._put_off_loading()
        try:
            spare, initial_vitals = self._spares.assign([*descriptors, *([] if folder is None else [folder])])
        except OSError:
            # No cell has it, and nobody else knows of it: it would hold its memory for as long as this process.
            if folder is not None:
                os.close(folder)
            raise
        return RunningCell(
            client=client,
            id=request["run"],
            pid=spare.pid,
            pidfd=os.pidfd_open(spare.pid),
            limits=bounds,
            output=Path(request["output"]),
            folder=folder,
            cell_socket=spare.cell_socket,
            started=started,
            initial_vitals=initial_vitals,
            initial_oom_kills=None if request["trusted"] else count_oom_kills(self._proc),
        )

    def _supervise(self) -> None:
        # A copy: a cell whose end is noticed here is removed from the list.
        for running in [*self._cells]:
            if running.is_over:
                continue
            if running.is_stopping:
                self._check_stopping(running)
            elif limit := running.exceeded_limit(self._proc):
                running.kill(limit)

    def _on_cell_socket(self, running: RunningCell) -> None:
        """Stop a cell that announces its answer; one that is ending closes the socket without a message."""
        # Another event of the same round has reaped it.
        if running not in self._cells:
            return
        if running.cell_socket.recv(1):
            running.stop()
        self._close_cell_socket(running)

    def _close_cell_socket(self, running: RunningCell) -> None:
        if running.cell_socket.fileno() >= 0:
            self._unwatch(running.cell_socket.fileno())
            running.cell_socket.close()

    def _check_stopping(self, running: RunningCell) -> None:
        """Report the end as soon as all threads of the cell have stopped: it will not run again, only end.

        The exit is not awaited: of a process of this size it takes as long as a small computation.
        """
        if running.exceeded_limit(self._proc) == "timed_out":
            running.kill("timed_out")
        pid, status, rusage = os.wait4(running.pid, os.WNOHANG | os.WUNTRACED)
        if pid and os.WIFSTOPPED(status):
            running.end()
            self._report_end(running, 0, rusage)
        elif pid:
            self._forget_cell(running, os.waitstatus_to_exitcode(status), rusage)

    def _reap(self, running: RunningCell) -> None:
        """Reap a cell that ended, with all that it left running, and report its end to the client."""
        if running in self._cells:
            # Before its process is reaped: after that its number may be the group of somebody else.
            running.kill_group()
            _, status, rusage = os.wait4(running.pid, 0)
            self._forget_cell(running, os.waitstatus_to_exitcode(status), rusage)

    def _forget_cell(self, running: RunningCell, status: int, rusage: resource.struct_rusage) -> None:
        self._unwatch(running.pidfd)
        os.close(running.pidfd)
        self._close_cell_socket(running)
        self._cells.remove(running)
        self._put_off_loading()
        self._report_end(running, status, rusage)

    def _report_end(self, running: RunningCell, status: int, rusage: resource.struct_rusage) -> None:
        if running.is_over:
            return
        running.is_over = True
        usage = {
            "wall_s": time.monotonic() - running.started,
            "cpu_s": rusage.ru_utime + rusage.ru_stime,
            # ru_maxrss is in KiB, and counts the pages that every cell shares with the zygote.
            "peak_memory_bytes": max(0, rusage.ru_maxrss * 1024 - running.initial_vitals.memory_bytes),
        }
        end = {
            "ended": running.id,
            "status": status,
            "reason": running.reason,
            "usage": usage,
            "oom_kills": running.oom_kills_since_start(self._proc) if status == -signal.SIGKILL else None,
        }
        _send(running.client, end, running.folder)
        if running.folder is not None:
            os.close(running.folder)


def _send(client: socket.socket, message: Mapping[str, object], folder: int | None = None) -> None:
    descriptors = [] if folder is None else [folder]
    try:
        socket.send_fds(client, [json.dumps(message).encode()], descriptors)
    except OSError:
        return  # the client is gone; the next poll says so


def _require_one_thread(proc: int) -> None:
    if read_vitals(proc, os.getpid()).threads != 1:
        sys.exit("A library started a thread when imported: forks of this process would not be sound.")


def main() -> None:
    socket_fd, cache, tier_name, *lifeline = sys.argv[1:]
    listener = socket.socket(fileno=int(socket_fd))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is the client's to act on
    tier, missing = survey_host() if tier_name == "best" else (Tier(tier_name), {})
    isolated = tier is Tier.NAMESPACES
    # Before the libraries are loaded: entering namespaces forks, and needs a single thread.
    proc = enter_namespaces() if isolated else os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    load_first()
    _require_one_thread(proc)
    zygote = Zygote(tier, proc, Path(cache))
    zygote.serve(listener, missing, 0 if lifeline else None)
    zygote.finish()


if __name__ == "__main__":
    main()
