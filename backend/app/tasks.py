"""Tasks of an event loop that are told to stop, and do."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

_ASK_AGAIN_S = 0.5

First = TypeVar("First")
Second = TypeVar("Second")


async def run_concurrently(
    first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]
) -> tuple[First, Second]:
    """Both at a time; when one fails, the other is stopped before the failure is seen."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        await cancel_and_wait(*tasks)


async def cancel_and_wait(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel and wait; more than once, for a library may take a cancellation for a timeout of its own.

    Whoever is cancelled while waiting here waits on, and is cancelled when they have stopped.
    """
    running = {task for task in tasks if task and not task.done()}
    cut: asyncio.CancelledError | None = None
    while running:
        for task in running:
            task.cancel()
        try:
            await asyncio.wait(running, timeout=_ASK_AGAIN_S)
        except asyncio.CancelledError as error:
            cut = error
        running = {task for task in running if not task.done()}
    if cut:
        raise cut


async def consume_cancellation(task: "asyncio.Task[Any] | None") -> None:
    """In a task that was cancelled and goes on to clean up: take a cancellation that has not arrived yet."""
    if task and task.cancelling():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        while task.cancelling():
            task.uncancel()
