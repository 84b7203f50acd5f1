from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from tests.patience import HANG_GUARD_S, hang_guard

from app.sessions.events.publisher import Tail, channel, parse
from app.sessions.events.serialization import EventMessage, sighting

ONE, OTHER = uuid4(), uuid4()


@pytest.fixture
async def tail(redis_url: str) -> AsyncIterator[Tail]:
    redis = Redis.from_url(redis_url)
    tail = Tail(redis)
    yield tail
    await tail.close()
    await redis.aclose()


def _said(n: int) -> EventMessage:
    return sighting(n, datetime.now(UTC), "message", '{"text": "x"}')


async def test_a_burst_is_two_messages_its_first_event_and_the_rest(tail: Tail, redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    async with redis.pubsub() as heard, hang_guard():
        await heard.subscribe(channel(ONE), channel(OTHER))
        tail.show(ONE, _said(1))
        tail.start()
        told: list[tuple[str, list[int | None]]] = []
        while len(told) < 3:
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=HANG_GUARD_S)
            if message is None:
                continue
            told.append((message["channel"].decode(), [seen.n for seen in parse(message["data"].decode())]))
            if len(told) == 1:
                for n in range(2, 12):
                    tail.show(ONE, _said(n))
                tail.show(OTHER, _said(1))
    assert told[0] == (channel(ONE), [1])
    assert dict(told[1:]) == {channel(OTHER): [1], channel(ONE): list(range(2, 12))}
    await redis.aclose()


async def test_what_waits_is_sent_when_it_closes(tail: Tail, redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    async with redis.pubsub() as heard, hang_guard():
        await heard.subscribe(channel(ONE))
        tail.show(ONE, _said(1))
        await tail.close()
        message = None
        while message is None:
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=HANG_GUARD_S)
    assert [seen.n for seen in parse(message["data"].decode())] == [1]
    await redis.aclose()
