"""Conversations past their period: everything of them goes, and nothing of others."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from fastapi import FastAPI

from app.db.pool import Database
from app.deletion.background import RetentionWorker
from app.deletion.expiry import Expiry
from app.deletion.retention_periods import RetentionPeriods

from .conftest import User
from .test_deletion import retention_worker
from .test_threads import ask, dataset

__all__ = ["dataset", "retention_worker"]
PERIODS = RetentionPeriods(threads_days=30)
AGE = """
with turns_of as (select session_id from turns where thread_id = $1), aged as (
  update sessions set ended_at = ended_at - interval '40 days' where id in (select session_id from turns_of))
update threads set updated_at = now() - interval '40 days' where id = $1
"""


async def rows_of(db: Database, sessions: Sequence[UUID]) -> dict[str, int]:
    """Count the rows of sessions in every table that names them."""
    tables = await db.rows(
        "select table_name as name from information_schema.columns c join information_schema.tables t"
        " using (table_schema, table_name) where column_name = 'session_id' and table_schema = 'public'"
        " and table_type = 'BASE TABLE'"
    )
    counts = {
        table["name"]: int(
            await db.value(f"select count(*) from {table['name']} where session_id = any($1)", sessions)
        )
        for table in tables
        if table["name"] != "audit"
    }
    return {name: number for name, number in counts.items() if number}


@pytest.mark.usefixtures("worker")
async def test_a_conversation_past_its_period_leaves_nothing(
    app: FastAPI, ada: User, dataset: str, retention_worker: RetentionWorker
) -> None:
    db: Database = app.state.resources.database
    blobs = app.state.resources.blobs
    kept = await ask(ada, "SQL: create table young as select 'young' as t", dataset_ids=[dataset])
    before = await db.value("select count(*) from blobs")
    first = await ask(ada, "SQL: create table old as from cities", dataset_ids=[dataset])
    place = {"thread_id": first["thread_id"]}
    second = await ask(ada, "PYTHON: a = [1]\nopen('old.txt', 'w').write('an old file')", **place)
    turns = [UUID(turn["turn_id"]) for turn in (first, second)]
    assert {"artifacts", "events", "messages", "steps", "calls", "turns"} <= (await rows_of(db, turns)).keys()

    expiry = Expiry(db, blobs, PERIODS)
    due = {count.kind: count.count async for count in expiry.count_due()}
    assert due["threads"] == 0
    await db.rows(AGE, UUID(first["thread_id"]))
    gone = dict([deleted async for deleted in expiry.run()])
    assert gone["threads"] == 1
    path = f"/threads/{first['thread_id']}"
    assert (await ada.http.get(path)).status_code == 404
    await retention_worker.resume_all_deletions()

    assert await rows_of(db, turns) == {}
    assert await db.value("select count(*) from sessions where id = any($1)", turns) == 0
    assert await db.value("select count(*) from worldlines where thread_id = $1", UUID(first["thread_id"])) == 0
    assert await db.value("select count(*) from deletions where done_at is null") == 0
    trail = await db.rows("select action, actor from audit where action like '%_deleted' order by action")
    assert [(row["action"], row["actor"]) for row in trail] == [
        ("session_deleted", "retention"),
        ("session_deleted", "retention"),
        ("thread_deleted", "retention"),
    ]
    await db.rows("update blobs set created_at = now() - interval '40 days'")
    _ = [deleted async for deleted in expiry.run()]
    assert await db.value("select count(*) from blobs") == before
    assert (await ada.http.get(f"/turns/{kept['turn_id']}")).status_code == 200


@pytest.mark.usefixtures("worker")
async def test_a_conversation_whose_turn_goes_on_is_not_past_its_period(
    app: FastAPI, ada: User, dataset: str
) -> None:
    db: Database = app.state.resources.database
    turn = await ask(ada, "SQL: select 1 as n", dataset_ids=[dataset])
    await db.rows(AGE, UUID(turn["thread_id"]))
    await db.rows("update sessions set ended_at = null where id = $1", UUID(turn["turn_id"]))
    due = {
        count.kind: count.count async for count in Expiry(db, app.state.resources.blobs, PERIODS).count_due()
    }
    assert due["threads"] == 0
