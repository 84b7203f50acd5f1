"""Rates in Redis: sliding windows, many meters in one round trip, and CPU seconds after the fact."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from app.auth.cpu_charges import Charging
from app.auth.rate_limits import Meter, Meters, headers, refusal
from app.db.pool import Database


@pytest.fixture
async def meters(redis_url: str) -> AsyncIterator[Meters]:
    async with Redis.from_url(redis_url) as redis:
        await redis.script_flush()
        yield Meters(redis)


async def test_many_at_once_get_no_more_than_many_in_turn(meters: Meters) -> None:
    asked = await asyncio.gather(*(meters.take([Meter("requests", "ada", "10/hour")]) for _ in range(25)))
    assert sorted(reading.granted for (reading,) in asked) == [False] * 15 + [True] * 10


async def test_the_window_slides(meters: Meters) -> None:
    meter = Meter("requests", "ada", "2/2 second")
    while (refused := (await meters.take([meter]))[0]).granted:
        pass
    await asyncio.sleep(refused.wait_s)  # clock: a window that slides is what is tested; more time is no harm
    (later,) = await meters.take([meter])
    assert later.granted


async def test_the_tightest_of_several_is_told_and_each_counts_alone(meters: Meters) -> None:
    wide, tight = Meter("address", "10.0.0.1", "100/minute"), Meter("requests", "ada", "2/minute")
    for left in (b"1", b"0"):
        readings = await meters.take([wide, tight])
        assert dict(headers(readings))[b"ratelimit-remaining"] == left
        assert refusal(readings) is None
    refused = refusal(await meters.take([wide, tight]))
    assert refused
    assert (refused.facts["of"], refused.facts["limit"]) == ("requests", 2)
    assert (await meters.take([wide]))[0].used == 4


async def test_to_look_takes_nothing(meters: Meters) -> None:
    look = Meter("compute", "ada", "1/hour", cost=0)
    assert [(await meters.take([look]))[0].granted for _ in range(3)] == [True] * 3
    await meters.add(Meter("compute", "ada", "1/hour", cost=5))
    assert not (await meters.take([look]))[0].granted


async def test_no_rate_is_no_limit_and_no_round_trip() -> None:
    nowhere = Meters(Redis.from_url("unix:///nowhere/valkey.sock"))
    assert await nowhere.take([Meter("requests", "ada", "")]) == []
    assert await nowhere.take([Meter("requests", "ada", "1/hour")]) == [], "without Redis everybody passes"


async def test_seconds_are_charged_at_the_users_own_rate(meters: Meters, database_url: str) -> None:
    database = await Database.open(database_url)
    ada, eve = uuid4(), uuid4()
    for user, quotas in ((ada, '{"compute": "5/hour"}'), (eve, "{}")):
        await database.rows(
            "insert into users (id, email, password_hash, role, quotas) values ($1, $2, 'x', 'user', $3)",
            user,
            str(user),
            quotas,
        )
    charge = Charging(database, meters, "100/hour")
    for user in (ada, eve):
        await charge(user, 7.0)
    await database.close()
    hers = (await meters.take([Meter("compute", str(ada), "5/hour", cost=0)]))[0]
    theirs = (await meters.take([Meter("compute", str(eve), "100/hour", cost=0)]))[0]
    assert (hers.granted, hers.used, theirs.granted, theirs.used) == (False, 7, True, 7)
