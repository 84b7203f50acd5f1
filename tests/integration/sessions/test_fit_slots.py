"""Fit slots of the fleet: what live workers say in their heartbeats."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.db.pool import Database
from app.sessions.workers import MAX_SILENCE_S, WorkerHeartbeat, count_fit_slots, count_live_workers
from app.tasks import cancel_and_wait

GRAPHS = {"pipeline": [1]}


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = await Database.open(database_url)
    yield db
    await db.close()


async def _until_workers(db: Database, count: int) -> None:
    query = "select count(*) as n from workers"
    while (row := await db.row(query)) and row["n"] != count:  # noqa: ASYNC110 (the other side is Postgres)
        await asyncio.sleep(0.01)


async def test_the_slots_of_all_workers_add_up_until_they_leave(db: Database) -> None:
    assert await count_fit_slots(db, fallback=7) == 7
    beats = [
        asyncio.create_task(WorkerHeartbeat(db, GRAPHS, ("compute",), slots).beat_for_ever())
        for slots in (2, 3, 0)
    ]
    await _until_workers(db, 3)
    assert await count_fit_slots(db, fallback=7) == 5
    assert (await count_live_workers(db))["compute"] == 3
    await cancel_and_wait(*beats)
    assert await count_fit_slots(db, fallback=7) == 7


async def test_a_worker_without_heartbeats_does_not_count(db: Database) -> None:
    await db.rows(
        "insert into workers (id, graphs, queues, fit_slots, seen_at) values "
        "(gen_random_uuid(), '{}', '{compute}', 8, now() - $1 * interval '1 second'), "
        "(gen_random_uuid(), '{}', '{compute}', 1, now()) returning id",
        MAX_SILENCE_S + 1,
    )
    assert await count_fit_slots(db, fallback=7) == 1
    assert (await count_live_workers(db))["compute"] == 1
