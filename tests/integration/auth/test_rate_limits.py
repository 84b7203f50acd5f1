"""Rates in Redis: sliding windows, many meters in one round trip, and CPU seconds after the fact."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from app.auth.cpu_charges import CpuCharges
from app.auth.rate_limits import RateLimiter, RateMeter, make_refusal, rate_limit_headers
from app.db.pool import Database


@pytest.fixture
async def meters(redis_url: str) -> AsyncIterator[RateLimiter]:
    async with Redis.from_url(redis_url) as redis:
        await redis.script_flush()
        yield RateLimiter(redis)


async def test_many_at_once_get_no_more_than_many_in_turn(meters: RateLimiter) -> None:
    asked = await asyncio.gather(*(meters.take([RateMeter("requests", "ada", "10/hour")]) for _ in range(25)))
    assert sorted(reading.is_granted for (reading,) in asked) == [False] * 15 + [True] * 10


async def test_the_window_slides(meters: RateLimiter) -> None:
    meter = RateMeter("requests", "ada", "2/2 second")
    while (refused := (await meters.take([meter]))[0]).is_granted:
        pass
    await asyncio.sleep(refused.wait_s)  # clock: a window that slides is what is tested; more time is no harm
    (later,) = await meters.take([meter])
    assert later.is_granted


async def test_the_tightest_of_several_is_told_and_each_counts_alone(meters: RateLimiter) -> None:
    wide, tight = RateMeter("address", "10.0.0.1", "100/minute"), RateMeter("requests", "ada", "2/minute")
    for left in (b"1", b"0"):
        readings = await meters.take([wide, tight])
        assert dict(rate_limit_headers(readings))[b"ratelimit-remaining"] == left
        assert make_refusal(readings) is None
    refused = make_refusal(await meters.take([wide, tight]))
    assert refused
    assert (refused.facts["of"], refused.facts["limit"]) == ("requests", 2)
    assert (await meters.take([wide]))[0].used == 4


async def test_to_look_takes_nothing(meters: RateLimiter) -> None:
    look = RateMeter("compute", "ada", "1/hour", cost=0)
    assert [(await meters.take([look]))[0].is_granted for _ in range(3)] == [True] * 3
    await meters.add(RateMeter("compute", "ada", "1/hour", cost=5))
    assert not (await meters.take([look]))[0].is_granted


async def test_no_rate_is_no_limit_and_no_round_trip() -> None:
    nowhere = RateLimiter(Redis.from_url("unix:///nowhere/valkey.sock"))
    assert await nowhere.take([RateMeter("requests", "ada", "")]) == []
    assert await nowhere.take([RateMeter("requests", "ada", "1/hour")]) == [], "without Redis everybody passes"


async def test_seconds_are_charged_at_the_users_own_rate(meters: RateLimiter, database_url: str) -> None:
    database = await Database.open(database_url)
    ada, eve = uuid4(), uuid4()
    for user, quotas in ((ada, '{"compute": "5/hour"}'), (eve, "{}")):
        await database.rows(
            "insert into users (id, email, password_hash, role, quotas) values ($1, $2, 'x', 'user', $3)",
            user,
            str(user),
            quotas,
        )
    charge = CpuCharges(database, meters, "100/hour")
    for user in (ada, eve):
        await charge(user, 7.0)
    await database.close()
    hers = (await meters.take([RateMeter("compute", str(ada), "5/hour", cost=0)]))[0]
    theirs = (await meters.take([RateMeter("compute", str(eve), "100/hour", cost=0)]))[0]
    assert (hers.is_granted, hers.used, theirs.is_granted, theirs.used) == (False, 7, True, 7)
