"""Heartbeats between the items of an asynchronous iterator."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TypeVar

from app.tasks import cancel_and_wait

Item = TypeVar("Item")


async def with_heartbeats(
    source: AsyncGenerator[Item, None], every_s: float, ended: "asyncio.Task[None] | None" = None
) -> AsyncGenerator[Item | None, None]:
    """Yield the items of `source`, and None after each `every_s` seconds without one, until `ended` is done.

    The next item is awaited in a task of its own: a timeout around `anext` would cancel and so end `source`.
    """
    also = {ended} if ended else set()
    async with aclosing(source):
        while True:
            coming = asyncio.create_task(_next(source))
            try:
                while not (await _first({coming, *also}, every_s)):
                    yield None
                # An item that has come with it is given up: its reader may not have it any more.
                if ended and ended.done():
                    return
            finally:
                await cancel_and_wait(coming)
            items = coming.result()
            if not items:
                return
            yield items[0]


async def _first(tasks: "set[asyncio.Task[Any]]", within_s: float) -> bool:
    """Wait until one of the tasks is done; False after `within_s` seconds."""
    done, _ = await asyncio.wait(tasks, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


async def _next(source: AsyncGenerator[Item, None]) -> tuple[Item] | tuple[()]:
    """Return the next item in a tuple, which is empty at the end: None may be an item."""
    try:
        return (await anext(source),)
    except StopAsyncIteration:
        return ()
