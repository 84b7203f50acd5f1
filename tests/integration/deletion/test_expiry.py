"""What was kept for long enough goes, and nothing else, however many processes let it go at once."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from tests.patience import hang_guard

from app.db.pool import Database
from app.deletion.expiry import Expiry
from app.deletion.periodic_work import claim_chore, postpone_chore
from app.deletion.retention_periods import RetentionPeriods
from app.deletion.stale_files import remove_stale_copies, remove_stale_files
from app.sessions.events.stream import EventStreams
from app.storage.postgres import PostgresBlobs

KEEP = RetentionPeriods(sessions_days=300, threads_days=300, journals_days=200)
DUE = {
    "sessions": 1,
    "threads": 1,
    "runs": 1,
    "job_sessions": 0,
    "jobs": 0,
    "journals": 2,
    "events": 4,
    "audit": 2,
    "tokens": 1,
    "keys": 2,
    "session_keys": 4,
    "upload_keys": 1,
    "deletions": 1,
    "workers": 1,
    "blobs": 0,
}
"""By kind, what `_fill` leaves that is past its time."""


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await Database.open(database_url)
    yield database
    await database.close()


async def test_of_each_kind_what_is_past_its_time_goes_and_the_rest_stays(db: Database, tmp_path: Path) -> None:
    kept = await _fill(db)
    expiry = Expiry(db, PostgresBlobs(db.pool, tmp_path), KEEP)
    assert {due_count.kind: due_count.count async for due_count in expiry.count_due()} == DUE

    async def run() -> dict[str, int]:
        return dict([deleted async for deleted in expiry.run()])

    first, second = await asyncio.gather(run(), run())
    gone = {kind: first[kind] + second[kind] for kind in DUE}
    # What hangs on a session may have gone with it.
    alone = DUE.keys() - {"journals", "events", "session_keys"}
    assert {kind: gone[kind] for kind in alone} == {kind: DUE[kind] for kind in alone}
    assert {due_count.count async for due_count in expiry.count_due()} == {0}

    sessions = {row["id"]: row["forgotten"] for row in await db.rows("select id, forgotten from sessions")}
    assert sessions == {kept[250]: ["journal", "events"], kept[150]: ["events"], kept[1]: [], kept[0]: []}
    for table, expected in (("steps", 3), ("events", 2 + 3 + 3), ("refresh_tokens", 1), ("api_keys", 1)):
        row = await db.row(f"select count(*) as n from {table}")
        assert row
        assert row["n"] == expected, table


async def test_of_forgotten_events_the_last_one_still_says_how_the_session_ended(
    db: Database, redis_url: str
) -> None:
    kept = await _fill(db)
    await db.rows("select forget_part($1, 'events')", kept[150])
    watch = EventStreams(redis_url, db)
    try:
        async with hang_guard():
            seen = [event.kind async for event in watch.subscribe(kept[150])]
    finally:
        await watch.close()
    assert seen == ["session_finished"]


async def test_one_process_of_the_fleet_does_a_chore(db: Database) -> None:
    takers = await asyncio.gather(*(claim_chore(db, "sweeping", 3600) for _ in range(6)))
    assert takers.count(True) == 1
    await db.rows("update chores set due_at = now()")
    await postpone_chore(db, "sweeping", 3600)
    assert not await claim_chore(db, "sweeping", 3600)


async def test_what_killed_processes_left_on_a_host_goes(db: Database, tmp_path: Path) -> None:
    blobs = PostgresBlobs(db.pool, tmp_path / "blobs")
    stored, gone = [(await blobs.put_bytes(data)).digest for data in (b"stored", b"gone")]
    for digest in (stored, gone):
        await blobs.local_path(digest)
    await db.rows("delete from blobs where digest = $1", gone)
    abandoned = ("uploads/upload-x", "prices/bars-x", "blobs/.part-x", "store/.part-x", "store/ab/.gone-x")
    for name in (*abandoned, "uploads/upload-now"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in (*abandoned, f"blobs/{stored}", f"blobs/{gone}"):
        os.utime(tmp_path / name, (time.time() - 90_000,) * 2)  # clock: a date

    assert await remove_stale_files(tmp_path, tmp_path / "store", 86_400) == 5
    assert await remove_stale_copies(tmp_path, blobs) == 1
    assert _files(tmp_path) == {"blobs.size", f"blobs/{stored}", "uploads/upload-now"}


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


async def _fill(db: Database) -> dict[int, UUID]:
    """A user with sessions that ended so many days ago (0: not at all), and other things old and new."""
    owner = uuid4()
    await db.rows("insert into users (id, email, password_hash, role) values ($1, 'a@b.c', 'x', 'user')", owner)
    made = {}
    for days in (400, 250, 150, 1, 0):
        made[days] = await _session(db, owner, days)
    run = await _session(db, owner, 100)
    await db.rows("update sessions set graph = 'run', class = 'run' where id = $1", run)
    for sql in (
        "insert into audit (owner_id, actor, action, at) select id, 'user', 'x', now() - n * interval '1 day'"
        " from users, unnest(array[1, 500]) as n",
        "insert into audit (session_id, actor, action, at)"
        " values (gen_random_uuid(), 'user', 'x', '2020-01-01')",
        "insert into audit (session_id, actor, action, at) select id, 'user', 'x', '2020-01-01' from sessions"
        " where ended_at is null",
        "insert into refresh_tokens (id, user_id, family, expires_at) select gen_random_uuid(), id,"
        " gen_random_uuid(), now() + n * interval '1 day' from users, unnest(array[1, -2]) as n",
        "insert into api_keys (id, user_id, name, prefix, key_hash, scopes, expires_at, revoked_at)"
        " select gen_random_uuid(), id, 'n', 'p', n, '{}', case n when 'a' then timestamptz '2020-01-01' end,"
        " case n when 'b' then timestamptz '2020-01-01' end from users, unnest(array['a', 'b', 'c']) as n",
        "insert into datasets (id, owner_id, name, filename, source_digest, source_size_bytes, digest,"
        " size_bytes, rows, columns, format, profile, idempotency_key, created_at) select gen_random_uuid(),"
        " id, 'n', 'f',"
        " 's', 1, 'd', 1, 1, '[]', '{}', '{}', n::text, now() - n * interval '1 day'"
        " from users, unnest(array[1, 8]) as n",
        "insert into deletions (id, kind, target_id, owner_id, asked_by, done_at) select gen_random_uuid(),"
        " 'session', gen_random_uuid(), id, 'user', n from users,"
        " unnest(array[timestamptz '2020-01-01', now(), null]) as n",
        "insert into workers (id, graphs, queues, seen_at) select gen_random_uuid(), '{}', '{}', n"
        " from unnest(array[timestamptz '2020-01-01', now()]) as n",
    ):
        await db.rows(sql)
    for days in (400, 1):
        await db.rows(
            "insert into threads (id, owner_id, title, dataset_ids, updated_at)"
            " values (gen_random_uuid(), $1, 't', '{}', now() - $2 * interval '1 day')",
            owner,
            days,
        )
    return made


async def _session(db: Database, owner: UUID, days: int) -> UUID:
    session = uuid4()
    await db.rows(
        "insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed, ended_at, created_at,"
        " idempotency_key, event_seq) values ($1, $2, 'g', '{}', '{}', 1,"
        " case when $3::int > 0 then now() - $3 * interval '1 day' end, now() - $3 * interval '1 day',"
        " $3::text, 3)",
        session,
        owner,
        days,
    )
    for n, kind in enumerate(("session_started", "step_committed", "session_finished"), 1):
        await db.rows(
            "insert into events (session_id, n, kind, body) values ($1, $2, $3, '{}')", session, n, kind
        )
    await db.rows(
        "insert into steps (session_id, seq, node, update, fence, started_at)"
        " values ($1, 1, 'n', '{}', 1, now())",
        session,
    )
    return session
