from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from tests.patience import HANG_GUARD_S, hang_guard

from app.sessions.events.publisher import EventPublisher, channel_name, parse_messages
from app.sessions.events.serialization import EventMessage, make_event_message

ONE, OTHER = uuid4(), uuid4()


@pytest.fixture
async def tail(redis_url: str) -> AsyncIterator[EventPublisher]:
    redis = Redis.from_url(redis_url)
    tail = EventPublisher(redis)
    yield tail
    await tail.close()
    await redis.aclose()


def _said(n: int) -> EventMessage:
    return make_event_message(n, datetime.now(UTC), "message", '{"text": "x"}')


async def test_a_burst_is_two_messages_its_first_event_and_the_rest(
    tail: EventPublisher, redis_url: str
) -> None:
    redis = Redis.from_url(redis_url)
    async with redis.pubsub() as heard, hang_guard():
        await heard.subscribe(channel_name(ONE), channel_name(OTHER))
        tail.publish(ONE, _said(1))
        tail.start()
        told: list[tuple[str, list[int | None]]] = []
        while len(told) < 3:
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=HANG_GUARD_S)
            if message is None:
                continue
            told.append(
                (message["channel"].decode(), [seen.seq for seen in parse_messages(message["data"].decode())])
            )
            if len(told) == 1:
                for n in range(2, 12):
                    tail.publish(ONE, _said(n))
                tail.publish(OTHER, _said(1))
    assert told[0] == (channel_name(ONE), [1])
    assert dict(told[1:]) == {channel_name(OTHER): [1], channel_name(ONE): list(range(2, 12))}
    await redis.aclose()


async def test_what_waits_is_sent_when_it_closes(tail: EventPublisher, redis_url: str) -> None:
    redis = Redis.from_url(redis_url)
    async with redis.pubsub() as heard, hang_guard():
        await heard.subscribe(channel_name(ONE))
        tail.publish(ONE, _said(1))
        await tail.close()
        message = None
        while message is None:
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=HANG_GUARD_S)
    assert [seen.seq for seen in parse_messages(message["data"].decode())] == [1]
    await redis.aclose()
