"""How many hands the fleet has: what its workers say, for as long as they live."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from tests.patience import HANG_GUARD_S, hang_guard

from app.sessions.fleet import KEY, Fleet
from app.tasks import stop


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    redis = Redis.from_url(redis_url)
    await redis.delete(KEY)
    yield redis
    await redis.delete(KEY)
    await redis.aclose()


async def _said(redis: Redis, members: int) -> None:
    async with hang_guard():
        while await redis.zcard(KEY) < members:  # noqa: ASYNC110 (the other side is Redis)
            await asyncio.sleep(0.01)


async def test_the_hands_of_all_workers_count_until_they_leave(redis: Redis) -> None:
    fleet = Fleet(redis, alone=7)
    assert await fleet.hands() == 7
    joined = [asyncio.create_task(fleet.join(hands)) for hands in (2, 3, 0)]
    await _said(redis, members=2)
    assert await fleet.hands() == 5
    await stop(*joined)
    assert await fleet.hands() == 7


async def test_a_worker_that_fell_silent_does_not_count(redis: Redis) -> None:
    await redis.zadd(
        KEY, {"dead:8": time.time() - 1, "alive:1": time.time() + HANG_GUARD_S}
    )  # clock: scores are times
    assert await Fleet(redis, alone=7).hands() == 1


async def test_a_fleet_without_redis_is_taken_for_this_machine() -> None:
    nowhere = Redis.from_url("redis://127.0.0.1:1", socket_connect_timeout=0.2)  # clock: nobody is there
    assert await Fleet(nowhere, alone=2).hands() == 2
    await nowhere.aclose()
