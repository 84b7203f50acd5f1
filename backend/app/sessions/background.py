"""Tasks beside the one that matters: a lease that is renewed, and tasks that are told to stop and do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, Protocol, TypeVar

from app.db.pool import is_away

_ASK_AGAIN_S = 0.5


class Held(Protocol):
    """What runs under a lease. `look`: set to have the lease's row looked at now."""

    look: asyncio.Event


Key = TypeVar("Key")
Something = TypeVar("Something", bound=Held)


@contextlib.asynccontextmanager
async def renewed(
    running: MutableMapping[Key, Something],
    key: Key,
    held: Something,
    renew: Callable[[], Awaitable[bool]],
    every_s: float,
) -> AsyncIterator[None]:
    """Hold a lease while the block runs, listed in `running`.

    `renew` is called every `every_s` seconds and when `held.look` is set, until it says False. While the
    database is away it is called again: the lease may yet be ours when it is back.
    """
    running[key] = held
    renewal = asyncio.create_task(_renew(held.look, renew, every_s))
    try:
        yield
    finally:
        renewal.cancel()
        if running.get(key) is held:
            del running[key]


async def _renew(look: asyncio.Event, renew: Callable[[], Awaitable[bool]], every_s: float) -> None:
    ours = True
    while ours:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await look.wait()
        look.clear()
        try:
            ours = await renew()
        except Exception as error:
            if not is_away(error):
                raise


First = TypeVar("First")
Second = TypeVar("Second")


async def side_by_side(
    first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]
) -> tuple[First, Second]:
    """Both at a time; when one fails, the other is stopped before the failure is seen."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        await stop(*tasks)


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
