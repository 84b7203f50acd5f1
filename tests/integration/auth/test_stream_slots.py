import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from app.auth.stream_slots import LEASE_S, StreamLimit, StreamSlots
from app.errors import TooMany

ADA = StreamLimit("streams", "ada", 2)


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(redis_url)
    yield redis
    await redis.aclose()


async def test_what_a_process_holds_is_renewed_at_once(redis: Redis) -> None:
    places = StreamSlots(redis)
    async with places.hold([ADA]), places.hold([ADA]):
        tickets: Any = await redis.zrange(ADA.key, 0, -1)
        await redis.zadd(
            ADA.key, dict.fromkeys(tickets, time.time() + 1000)
        )  # clock: scores are times; these are later than a renewal can be
        await places.renew()
        assert (
            await redis.zcount(ADA.key, "-inf", time.time() + LEASE_S) == len(tickets) == 2
        )  # clock: at most so late, whenever it was renewed
    assert not await redis.exists(ADA.key)


async def test_who_leaves_during_a_renewal_holds_no_place(redis: Redis) -> None:
    places = StreamSlots(redis)
    held = places.hold([ADA])
    await held.__aenter__()

    async def leave_and_execute(self: object, *_: object) -> list[object]:
        monkeypatch.undo()
        await held.__aexit__(None, None, None)
        return await self.execute()  # type: ignore[attr-defined, no-any-return]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("redis.asyncio.client.Pipeline.execute", leave_and_execute)
        await places.renew()
    assert not await redis.exists(ADA.key)


async def test_a_place_too_many_is_given_back(redis: Redis) -> None:
    here, elsewhere = StreamSlots(redis), StreamSlots(redis)
    async with here.hold([ADA]), elsewhere.hold([ADA]):
        with pytest.raises(TooMany):
            async with here.hold([ADA]):
                raise AssertionError
        assert await redis.zcard(ADA.key) == 2
    async with elsewhere.hold([ADA]):
        await here.renew()
        assert await redis.zcard(ADA.key) == 1
