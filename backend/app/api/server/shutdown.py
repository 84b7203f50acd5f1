"""Shutdown of the HTTP server: event streams end in order before the connections do."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn


class EdgeServer(uvicorn.Server):
    """On shutdown, refuse new connections, close sockets with 1012, and wait for running requests.

    `leaving` is set first: event streams would otherwise delay the shutdown and then be cut within an event.
    """

    def __init__(self, config: uvicorn.Config, leaving: asyncio.Event) -> None:
        super().__init__(config)
        self._leaving = leaving

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving.set()
        await super().shutdown(sockets)


@contextmanager
def setting_on_termination(leaving: asyncio.Event) -> Iterator[None]:
    """Set `leaving` when this process is told to stop, for servers that do not know it, such as plain uvicorn.

    The server's own handlers are called afterwards. Without effect outside the main thread, where Python
    admits no handler.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def announce(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(leaving.set)
        handler = former[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    # Only where a server handles the signal: the default action ends the process, and must go on doing so.
    replaced = [number for number, handler in former.items() if callable(handler)]
    for number in replaced:
        signal.signal(number, announce)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, former[number])
