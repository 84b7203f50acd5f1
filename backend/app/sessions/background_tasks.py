"""Beside the task that matters: a lease that is renewed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Protocol, TypeVar

from app.db.pool import is_away


class LeaseHolder(Protocol):
    """What runs under a lease. `look`: set to have the lease's row looked at now."""

    recheck: asyncio.Event


Key = TypeVar("Key")
Something = TypeVar("Something", bound=LeaseHolder)


@contextlib.asynccontextmanager
async def renew_in_background(
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
    renewal = asyncio.create_task(_renew(held.recheck, renew, every_s))
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
