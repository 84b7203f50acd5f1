"""An iterator that never stays silent for long."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TypeVar

from app.tasks import cancel_and_wait

Item = TypeVar("Item")


async def with_heartbeats(
    source: AsyncGenerator[Item, None], every_s: float, ended: "asyncio.Task[None] | None" = None
) -> AsyncGenerator[Item | None, None]:
    """The items of `source`, and None whenever `every_s` seconds pass without one; until `ended` is done.

    Waiting is never cut short: a timeout inside `source` would end it.
    """
    also = {ended} if ended else set()
    async with aclosing(source):
        while True:
            coming = asyncio.create_task(_next(source))
            try:
                while not (await _first({coming, *also}, every_s)):
                    yield None
                if ended and ended.done():
                    return
            finally:
                await cancel_and_wait(coming)
            items = coming.result()
            if not items:
                return
            yield items[0]


async def _first(tasks: "set[asyncio.Task[Any]]", within_s: float) -> bool:
    """Whether one of them is done in time."""
    done, _ = await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


async def _next(source: AsyncGenerator[Item, None]) -> tuple[Item] | tuple[()]:
    """The next item in a tuple of one, which is empty at the end."""
    try:
        return (await anext(source),)
    except StopAsyncIteration:
        return ()
