"""An iterator that never stays silent for long."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from app.sessions.background import stop

Item = TypeVar("Item")


async def with_heartbeats(
    source: AsyncGenerator[Item, None], every_s: float
) -> AsyncGenerator[Item | None, None]:
    """The items of `source`, and None whenever `every_s` seconds pass without one.

    Waiting is never cut short: a timeout inside `source` would end it.
    """
    async with aclosing(source):
        while True:
            coming = asyncio.create_task(_next(source))
            try:
                while not (await asyncio.wait({coming}, timeout=every_s))[0]:
                    yield None
            finally:
                await stop(coming)
            items = coming.result()
            if not items:
                return
            yield items[0]


async def _next(source: AsyncGenerator[Item, None]) -> tuple[Item] | tuple[()]:
    """The next item in a tuple of one, which is empty at the end."""
    try:
        return (await anext(source),)
    except StopAsyncIteration:
        return ()
