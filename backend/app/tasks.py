"""Concurrency on one event loop: pairs of tasks, and cancellation that is certain to end."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

_CANCEL_INTERVAL_S = 0.5
"""Pause before a task is cancelled again: long enough for most clean-ups."""

First = TypeVar("First")
Second = TypeVar("Second")


async def run_concurrently(
    first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]
) -> tuple[First, Second]:
    """Run two coroutines at the same time. If the first fails, stop the second before raising.

    A failure of the second is raised once the first has ended, whose work is not lost by it.
    """
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        await cancel_and_wait(*tasks)


async def cancel_and_wait(*tasks: "asyncio.Task[Any] | None") -> None:
    """Cancel tasks until they have stopped. A library may take a cancellation for a timeout of its own.

    A cancellation of the caller is deferred until the tasks have stopped.
    """
    running = {task for task in tasks if task and not task.done()}
    cancellation: asyncio.CancelledError | None = None
    while running:
        for task in running:
            task.cancel()
        try:
            # Not gather: what a task raises is for its owner to read.
            await asyncio.wait(running, timeout=_CANCEL_INTERVAL_S)
        except asyncio.CancelledError as error:
            cancellation = error
        running = {task for task in running if not task.done()}
    if cancellation:
        raise cancellation


async def consume_cancellation(task: "asyncio.Task[Any] | None") -> None:
    """Consume the pending cancellations of a cancelled task that has to clean up."""
    if task and task.cancelling():
        # A cancellation is delivered at the next await: here, and not in the clean-up.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        # A timeout or a task group of the clean-up would take the rest for its own.
        while task.cancelling():
            task.uncancel()
