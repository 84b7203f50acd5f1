"""Tasks that are told to stop: that they do, and that they do not stop too late."""

import asyncio
import contextlib
from typing import Any

_ASK_AGAIN_S = 0.5


async def stop(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel and wait; more than once, for a library may take a cancellation for a timeout of its own."""
    running = {task for task in tasks if task and not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_ASK_AGAIN_S)


async def settle(task: "asyncio.Task[Any] | None") -> None:
    """In a task that was cancelled and goes on to clean up: take a cancellation that has not arrived yet."""
    if task and task.cancelling():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        while task.cancelling():
            task.uncancel()
