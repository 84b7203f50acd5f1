"""A worker's end of one zygote: start it, send requests, hear how their cells ended."""

import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.errors import Unavailable
from app.sandbox.contract import CellRequest, Usage
from app.sandbox.pipes import CellPipes
from app.sandbox.verdict import Ending
from app.sandbox.wire import CONTROL_BYTES, write_request

START_LIMIT_S = 120.0
KILL_LIMIT_S = 10.0

_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "Agg",
    # One thread, so that forks of the zygote are sound; a cell raises its own count.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JOBLIB_MULTIPROCESSING": "0",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # Arenas are reserved per thread and would use up a cell's address space.
    "MALLOC_ARENA_MAX": "4",
}


class ZygoteLink:
    """One running zygote. `on_end` is called once, when it has ended for whatever cause."""

    def __init__(self, cache: Path, tier: str, on_end: Callable[[], None]) -> None:
        self._cache = cache
        self._tier = tier
        self._on_end = on_end
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Ending | None]] = {}
        self._alive = False

    async def start(self) -> Mapping[str, Any]:
        """What the zygote says of itself when it is ready; raises Unavailable if it does not start."""
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Mapping[str, Any]] = self._loop.create_future()
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self._control = ours
        with its:
            self._process = _spawn(its.fileno(), self._cache, self._tier)
        self._alive = True
        self._loop.add_reader(ours, self._hear)
        try:
            return await asyncio.wait_for(self._ready, START_LIMIT_S)
        except TimeoutError:
            await self.close()
            raise Unavailable("cells_unavailable", "The process that computes did not start in time.") from None

    async def run(self, request: CellRequest, pipes: CellPipes) -> Ending | None:
        """How the cell ended; None if the zygote ended first. Cancelling this kills the cell, then rises."""
        cell = next(self._ids)
        ended: asyncio.Future[Ending | None] = self._loop.create_future()
        self._waiting[cell] = ended
        self._ask(cell, request, pipes)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._send({"kill": cell})
            impatience = self._loop.call_later(KILL_LIMIT_S, self._process.kill)
            await _regardless_of_cancels(ended)
            impatience.cancel()
            _drop_folder(ended.result())
            raise

    def _ask(self, cell: int, request: CellRequest, pipes: CellPipes) -> None:
        order = {
            "run": cell,
            "trusted": request.trusted,
            "limits": asdict(request.limits),
            "output": str(request.output),
        }
        body = write_request(request)
        descriptors = [pipes.stdout.writer, pipes.stderr.writer, body, pipes.report.writer]
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], descriptors)
        except OSError:
            self._waiting.pop(cell).set_result(None)
        os.close(body)
        pipes.watch()

    async def close(self) -> None:
        """End the zygote and all its cells; returns when the kernel says that they have ended."""
        self._hang_up()
        await self._reaped

    def _hear(self) -> None:
        try:
            message, folders, _, _ = socket.recv_fds(self._control, CONTROL_BYTES, 1)
        except BlockingIOError:
            return
        except ConnectionError:
            message, folders = b"", []
        if not message:
            self._hang_up()
            return
        body = json.loads(message)
        if "ready" in body:
            self._ready.set_result(body["ready"])
        else:
            self._settle(body, folders[0] if folders else None)

    def _settle(self, body: dict[str, Any], folder: int | None) -> None:
        ended = self._waiting.pop(body["ended"])
        ended.set_result(Ending(body["status"], body["reason"], Usage(**body["usage"]), folder))

    def _hang_up(self) -> None:
        """The zygote is gone or told to go: nobody waits for it any longer."""
        if not self._alive:
            return
        self._alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        self._reaped = self._loop.run_in_executor(None, _reap, self._process)
        for ended in self._waiting.values():
            ended.set_result(None)
        self._waiting.clear()
        if not self._ready.done():
            self._ready.set_exception(
                Unavailable("cells_unavailable", "The process that computes ended before it was ready.")
            )
        self._on_end()

    def _send(self, message: dict[str, object]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())


def _drop_folder(ending: Ending | None) -> None:
    if ending and ending.folder is not None:
        os.close(ending.folder)


def _spawn(control: int, cache: Path, tier: str) -> subprocess.Popen[bytes]:
    cache.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(  # noqa: S603 (fixed arguments)
        [sys.executable, "-P", "-m", "app.sandbox.zygote", str(control), str(cache), tier],
        pass_fds=[control],
        stdin=subprocess.DEVNULL,
        env={**_ENVIRONMENT, "MPLCONFIGDIR": str(cache)},
        cwd="/",
        start_new_session=True,
    )


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()  # its cells follow it: they asked the kernel for that
        process.wait()


async def _regardless_of_cancels(ended: asyncio.Future[Ending | None]) -> None:
    while not ended.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ended)
