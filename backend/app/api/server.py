"""The HTTP server of this process, which ends its streams in good order when it is asked to stop."""

import asyncio
import socket

import uvicorn


class EdgeServer(uvicorn.Server):
    """Asked to stop, it takes no new connection, says goodbye to sockets (1012) and waits for running requests.

    `leaving` is set first: a stream of events would otherwise be waited for, and then be cut in its middle.
    """

    def __init__(self, config: uvicorn.Config, leaving: asyncio.Event) -> None:
        super().__init__(config)
        self._leaving = leaving

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving.set()
        await super().shutdown(sockets)
