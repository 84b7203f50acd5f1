"""The application on a server of its own, in a thread with a loop of its own, for clients that block."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from argon2 import PasswordHasher

from app.api.server.protocols import EdgeProtocol
from app.main import create_app
from app.settings import Settings


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Its address."""
    app = create_app(settings, hasher=PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1))
    config = uvicorn.Config(app, http=EdgeProtocol, lifespan="on", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        # `serve` would take pytest's signals.
        thread = threading.Thread(target=lambda: asyncio.run(server._serve([listening])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
