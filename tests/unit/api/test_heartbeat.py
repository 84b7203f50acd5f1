import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.api.streams.heartbeat import with_heartbeats


async def items(*values: int) -> AsyncGenerator[int, None]:
    for value in values:
        yield value


async def test_items_pass_in_order() -> None:
    assert [item async for item in with_heartbeats(items(1, 2, 3), every_s=60)] == [1, 2, 3]


async def test_a_silent_source_is_filled_with_heartbeats_and_goes_on() -> None:
    go_on = asyncio.Event()

    async def source() -> AsyncGenerator[int, None]:
        yield 1
        await go_on.wait()
        yield 2

    seen = []
    async for item in with_heartbeats(source(), every_s=0.01):
        seen.append(item)
        if seen.count(None) == 3:
            go_on.set()
    assert (seen[0], seen[-1]) == (1, 2)
    assert seen.count(None) >= 3


async def test_a_source_that_breaks_says_so() -> None:
    async def source() -> AsyncGenerator[int, None]:
        yield 1
        raise LookupError("gone")

    with pytest.raises(LookupError):
        [item async for item in with_heartbeats(source(), every_s=60)]


async def test_a_cancelled_listener_closes_its_source() -> None:
    closed = asyncio.Event()
    waiting = asyncio.Event()

    async def source() -> AsyncGenerator[int, None]:
        try:
            waiting.set()
            await asyncio.Event().wait()
            yield 1
        finally:
            closed.set()

    async def listen() -> None:
        async for _ in with_heartbeats(source(), every_s=60):
            pass

    task = asyncio.create_task(listen())
    await waiting.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert closed.is_set()
