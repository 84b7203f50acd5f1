"""HTTP server that ends its event streams in order on shutdown."""

import asyncio
import socket

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
