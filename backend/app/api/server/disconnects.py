"""Clients that leave before their answer is there."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from app.tasks import cancel_and_wait

Result = TypeVar("Result")


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client has closed its connection, once the body of its request has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Run work for a request whose body has been read, and cancel it when the client leaves.

    Raises ClientDisconnect, as reading the body of a client that has left does.
    """
    running = asyncio.create_task(work)
    disconnect = asyncio.create_task(wait_for_disconnect(request.receive))
    try:
        await asyncio.wait({running, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ClientDisconnect
        return running.result()
    finally:
        await cancel_and_wait(disconnect, running)
