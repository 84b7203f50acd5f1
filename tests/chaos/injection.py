"""Injection of each kind of fault. All of them end by themselves, as the plan says."""

import asyncio
import os
import resource
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError
from tests.chaos.clock import set_clock
from tests.chaos.plan import Fault
from tests.chaos.service_processes import ServiceProcesses
from tests.chaos.small_disk import fill

_PATIENCE_S = 3.0
_SPARES = 2
"""Newest cells of a zygote, which are likely to be spare ones without a computation."""


@dataclass
class Injector:
    """`full`: how the blobs' disk is filled, `mounts` when it is a file system of its own."""

    processes: ServiceProcesses
    has_small_disk: bool
    _lasting: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def inject(self, fault: Fault) -> bool:
        """Do it; False when there was nothing to do it to in time. What lasts goes on in the background."""
        return await HOW[fault.kind](self, fault)

    async def finished(self) -> None:
        """Return when nothing that was done lasts any more."""
        while self._lasting:
            await asyncio.wait(self._lasting)

    def later(self, for_s: float, undo: Callable[[], object]) -> None:
        async def wait() -> None:
            try:
                await asyncio.sleep(for_s)
            finally:
                undo()

        task = asyncio.create_task(wait())
        self._lasting.add(task)
        task.add_done_callback(self._lasting.discard)

    def undo_all(self) -> None:
        for task in self._lasting:
            task.cancel()

    async def signal(self, fault: Fault, number: signal.Signals) -> bool:
        """As soon as the victim lives."""
        return await _until(lambda: self.processes.parts[fault.victim].signal(number))

    def pid(self, part: str) -> int | None:
        process = self.processes.parts[part]
        return process.process.pid if process.process and process.is_alive else None


async def _until(done: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE_S
    while not done():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


def _signalling(number: signal.Signals) -> "How":
    async def send(field: Injector, fault: Fault) -> bool:
        return await field.signal(fault, number)

    return send


async def _pause(field: Injector, fault: Fault) -> bool:
    stopped: list[int] = []

    def stop() -> bool:
        if pid := field.pid(fault.victim):
            stopped.append(real_zygote(pid) if fault.victim == "cells" else pid)
            os.kill(stopped[0], signal.SIGSTOP)
        return bool(stopped)

    if not await _until(stop):
        return False
    _resume_later(field, stopped[0], fault.for_s)
    return True


def _resume_later(field: Injector, pid: int, for_s: float) -> None:
    """By a process of its own: a server that is stopped could not be told that we ended."""
    script = f"sleep {for_s:.3f}; kill -CONT {pid}"
    resumer = subprocess.Popen(["/bin/sh", "-c", script], stderr=subprocess.DEVNULL, start_new_session=True)
    field.later(for_s + 0.1, resumer.poll)


async def _kill_cell(field: Injector, fault: Fault) -> bool:
    return await _until(lambda: _signal_cell(field, fault, signal.SIGKILL) is not None)


async def _pause_cell(field: Injector, fault: Fault) -> bool:
    stopped: list[int] = []

    def stop() -> bool:
        pid = _signal_cell(field, fault, signal.SIGSTOP)
        stopped.extend([pid] if pid else [])
        return pid is not None

    if not await _until(stop):
        return False
    _resume_later(field, stopped[0], fault.for_s)
    return True


def _signal_cell(field: Injector, fault: Fault, number: signal.Signals) -> int | None:
    """To one that computes, or else to a spare: those are the youngest."""
    zygote = field.pid("cells")
    cells = sorted(cells_of(zygote)) if zygote else []
    if not cells:
        return None
    likely = cells[:-_SPARES] or cells
    pid = likely[fault.draw % len(likely)][1]
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return None
    return pid


def cells_of(zygote: int) -> Iterator[tuple[int, int]]:
    """Start time and pid of each cell, spares too."""
    children, started = _processes()
    for pid in children.get(_innermost(zygote, children), []):
        yield started[pid], pid


def real_zygote(pid: int) -> int:
    """With namespaces, the process that was started only waits for the one that forks cells."""
    return _innermost(pid, _processes()[0])


def _innermost(pid: int, children: Mapping[int, list[int]]) -> int:
    only = children.get(pid, [])
    return only[0] if len(only) == 1 else pid


def _processes() -> tuple[dict[int, list[int]], dict[int, int]]:
    """Children and start time of each process of this machine, by pid."""
    children: dict[int, list[int]] = {}
    started: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            facts = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(facts[1]), []).append(int(entry.name))
            started[int(entry.name)] = int(facts[19])
    return children, started


async def _empty_redis(field: Injector, fault: Fault) -> bool:
    """Refused while it is away."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            async with Redis.from_url(field.processes.redis_url, socket_timeout=2) as redis:
                await redis.flushall()
        except (RedisError, OSError):
            await asyncio.sleep(0.02)
        else:
            return True
    return False


async def _restart_redis(field: Injector, fault: Fault) -> bool:
    return await field.signal(fault, signal.SIGKILL if fault.draw % 2 else signal.SIGTERM)


async def _hold_down(field: Injector, fault: Fault) -> bool:
    part = field.processes.parts[fault.victim]
    part.held_until = time.monotonic() + fault.for_s
    field.later(fault.for_s, lambda: None)
    return await field.signal(fault, signal.SIGKILL)


async def _fill_disk(field: Injector, fault: Fault) -> bool:
    """Fill the small disk, or, where none could be mounted, forbid the processes to write to files."""
    blobs = field.processes.folder / "blobs"
    if field.has_small_disk:
        ballast = await asyncio.to_thread(fill, blobs)
        field.later(fault.for_s, lambda: ballast.unlink(missing_ok=True))
        return True
    writers = [pid for name in field.processes.parts if (pid := _writer(field, name))]
    limit_files(writers, 0)
    field.later(fault.for_s, lambda: limit_files(writers, None))
    return True


def _writer(field: Injector, name: str) -> int | None:
    return field.pid(name) if name == "api" or name.partition("-")[0] in ("steps", "compute") else None


def limit_files(pids: Sequence[int], size_bytes: int | None) -> None:
    """Limit the size of files that these processes may write from now on; None removes the limit."""
    soft = resource.RLIM_INFINITY if size_bytes is None else size_bytes
    for pid in pids:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))


async def _jump(field: Injector, fault: Fault) -> bool:
    clock = field.processes.folder / "clocks" / fault.victim
    set_clock(clock, fault.size)
    field.later(fault.for_s, lambda: set_clock(clock, 0.0))
    return True


def _linking(do: str) -> "How":
    async def send(field: Injector, fault: Fault) -> bool:
        link = fault.victim
        field.processes.order(link, do, fault.for_s, fault.size)
        field.later(fault.for_s, lambda: None)
        return True

    return send


How = Callable[[Injector, Fault], Awaitable[bool]]

HOW: Mapping[str, How] = {
    "SIGKILL worker (steps)": _signalling(signal.SIGKILL),
    "SIGKILL worker (compute)": _signalling(signal.SIGKILL),
    "SIGKILL API": _signalling(signal.SIGKILL),
    "SIGKILL zygote": _signalling(signal.SIGKILL),
    "SIGKILL cell": _kill_cell,
    "SIGTERM worker": _signalling(signal.SIGTERM),
    "SIGSTOP worker (steps)": _pause,
    "SIGSTOP worker (compute)": _pause,
    "SIGSTOP API": _pause,
    "SIGSTOP zygote": _pause,
    "SIGSTOP cell": _pause_cell,
    "Redis emptied": _empty_redis,
    "Redis restarted": _restart_redis,
    "Redis away": _hold_down,
    "Redis frozen": _pause,
    "Postgres restarted (fast)": _signalling(signal.SIGINT),
    "Postgres restarted (immediate)": _signalling(signal.SIGQUIT),
    "disk full for blobs": _fill_disk,
    "clock jumps": _jump,
    "Postgres links cut": _linking("cut"),
    "Redis links cut": _linking("cut"),
    "client links cut": _linking("cut"),
    "Postgres links slow": _linking("slow"),
    "Redis links slow": _linking("slow"),
    "Postgres links silent, then cut": _linking("silence"),
    "Redis links silent, then cut": _linking("silence"),
}
