"""A worker's connection to one zygote: start it, send requests, receive how their cells ended."""

import asyncio
import contextlib
import itertools
import json
import os
import socket
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from app.errors import Unavailable
from app.sandbox.exchange.contract import CellRequest, Computation, Usage
from app.sandbox.exchange.request_format import MAX_CONTROL_BYTES
from app.sandbox.provider.cell_pipes import CellPipes
from app.sandbox.provider.outcome import ProcessEnd
from app.sandbox.provider.zygote_launch import reap
from app.sandbox.zygote.first_computations import is_first

Connect = Callable[[], Awaitable[tuple[socket.socket, "subprocess.Popen[bytes] | None"]]]
"""Opens the non-blocking socket to a zygote; also returns its process where this worker has to reap it."""

MAX_START_S = 600.0
"""Seconds that a zygote may take to start: 3 to 5 on an idle machine; 120 were not enough beside 30 busy
processes on two processors. One that dies is noticed at once, by its socket: this ends only one that hangs."""
MAX_KILL_S = 10.0
"""Seconds that a zygote may take to end cells: it does so in milliseconds unless it hangs."""


class ZygoteLink:
    """Connection to one zygote. `on_end` is called once, when the zygote has ended for any cause."""

    def __init__(self, connect: Connect, on_end: Callable[[], None]) -> None:
        self._connect = connect
        self._on_end = on_end
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ProcessEnd | None]] = {}
        self._alive = self._is_ready = False
        self._reaped: asyncio.Future[None] | None = None

    async def start(self) -> Mapping[str, Any]:
        """Connect, and wait until the zygote is ready. Returns its tier. Raises Unavailable."""
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Mapping[str, Any]] = self._loop.create_future()
        self._disconnected = asyncio.Event()
        try:
            async with asyncio.timeout(MAX_START_S):
                self._control, self._process = await self._connect()
                self._alive = True
                self._loop.add_reader(self._control, self._read_message)
                return await self._ready
        except TimeoutError:
            await self.close()
            raise Unavailable("cells_unavailable", "The process that computes did not start in time.") from None

    async def run(self, request: CellRequest, pipes: CellPipes) -> ProcessEnd | None:
        """Run a request. Returns how the cell ended; None if the zygote ended first.

        A cancellation kills the cell, and is raised when that has ended.
        """
        cell = next(self._ids)
        ended: asyncio.Future[ProcessEnd | None] = self._loop.create_future()
        self._waiting[cell] = ended
        self._send_request(cell, request, pipes)
        try:
            # Shielded: after a cancellation the end of the cell is still waited for.
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._send({"kill": cell})
            # A zygote that hangs must not keep its callers: without the connection all requests end.
            kill_timer = self._loop.call_later(MAX_KILL_S, self._disconnect)
            try:
                await wait_until_done(ended)
            finally:
                kill_timer.cancel()
                # Nobody takes the files of a cell that was cancelled.
                _close_folder(ended.result())
            raise

    def _send_request(self, cell: int, request: CellRequest, pipes: CellPipes) -> None:
        message = {
            "run": cell,
            "trusted": request.trusted,
            "limits": asdict(request.limits),
            "output": str(request.output),
            "first": isinstance(request.work, Computation) and is_first(request.work.function),
        }
        descriptors = [pipes.stdout.writer, pipes.stderr.writer, pipes.requests, pipes.report.writer]
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)
        except OSError:
            # The zygote is gone: for the caller this is the same as one that goes a moment later.
            self._waiting.pop(cell).set_result(None)
        # Only when the cell has its ends, which are closed here.
        pipes.watch()

    async def close(self) -> None:
        """End this worker's cells, and the zygote if it was started here; returns when they have ended."""
        if self._alive:
            with contextlib.suppress(OSError):
                # The zygote reads an end, kills this client's cells
                # and closes: that is what is waited for below.
                self._control.shutdown(socket.SHUT_WR)
            if self._process and not self._is_ready:
                self._process.kill()  # it is importing libraries, and would not read the socket for seconds
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._disconnected.wait(), MAX_KILL_S)
            self._disconnect()
        if self._reaped:
            await self._reaped

    def _read_message(self) -> None:
        try:
            message, folders, _, _ = socket.recv_fds(self._control, MAX_CONTROL_BYTES, 1)
        except BlockingIOError:
            return
        except ConnectionError:
            message, folders = b"", []
        if not message:
            self._disconnect()
            return
        body = json.loads(message)
        if "ready" in body:
            self._is_ready = True
            if not self._ready.done():
                self._ready.set_result(body["ready"])
        else:
            self._resolve(body, folders[0] if folders else None)

    def _resolve(self, body: dict[str, Any], folder: int | None) -> None:
        ended = self._waiting.pop(body["ended"])
        usage = Usage(**body["usage"])
        ended.set_result(ProcessEnd(body["status"], body["reason"], usage, folder, body["oom_kills"]))

    def _disconnect(self) -> None:
        """Close the connection, once, and end all requests that wait on it."""
        if not self._alive:
            return
        self._alive = False
        self._loop.remove_reader(self._control)
        self._control.close()
        if self._process:
            # In a thread: waiting for a process blocks.
            self._reaped = self._loop.run_in_executor(None, reap, self._process)
        for ended in self._waiting.values():
            ended.set_result(None)
        self._waiting.clear()
        if not self._ready.done():
            self._ready.set_exception(
                Unavailable("cells_unavailable", "The process that computes ended before it was ready.")
            )
        self._disconnected.set()
        # Last: it makes room for the next link.
        self._on_end()

    def _send(self, message: dict[str, object]) -> None:
        with contextlib.suppress(OSError):
            self._control.send(json.dumps(message).encode())


def _close_folder(ending: ProcessEnd | None) -> None:
    if ending and ending.folder is not None:
        os.close(ending.folder)


async def wait_until_done(ended: asyncio.Future[ProcessEnd | None]) -> None:
    """Wait for the future to end in whatever way. A cancellation of the caller is deferred until then."""
    cancellation: asyncio.CancelledError | None = None
    while not ended.done():
        try:
            await asyncio.wait([ended])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation:
        raise cancellation
