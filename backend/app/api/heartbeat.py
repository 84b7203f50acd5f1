"""An iterator that never stays silent for long."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, TypeVar

Item = TypeVar("Item")


async def with_heartbeats(source: AsyncGenerator[Item, None], every_s: float) -> AsyncIterator[Item | None]:
    """The items of `source`, and None whenever `every_s` seconds pass without one.

    Waiting is never cut short: a timeout inside `source` would end it.
    """
    async with aclosing(source):
        while True:
            coming = asyncio.ensure_future(anext(source))
            try:
                while not (await asyncio.wait({coming}, timeout=every_s))[0]:
                    yield None
                item = coming.result()
            except StopAsyncIteration:
                return
            finally:
                await stopped(coming)
            yield item


async def stopped(task: "asyncio.Future[Any]") -> None:
    """Cancel until it is heard: `asyncio.wait_for` of Python 3.11, which redis uses, may swallow a cancel."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)
