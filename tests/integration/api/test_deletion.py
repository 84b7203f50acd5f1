"""What somebody deletes goes, with what was made of it, and nothing of anybody else."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.db.pool import Database
from app.db.tables import SessionRow
from app.deletion.background import RetentionWorker
from app.settings import Settings

from .conftest import PASSWORD, User, client_of
from .test_ownership import a_dataset, an_artifact

SESSIONS = "/lab/agent/sessions"


@pytest.fixture
def retention_worker(app: FastAPI, settings: Settings) -> RetentionWorker:
    r = app.state.resources
    return RetentionWorker(r.database, r.redis, r.tail, r.send, r.blobs, settings.retention, settings.home)


async def add(app: FastAPI, *rows: Any) -> None:
    async with app.state.resources.open_uow() as uow:
        for row in rows:
            uow.db.add(row)
            await uow.db.flush()


def a_session(owner: UUID, ended: bool = True, **values: Any) -> SessionRow:
    row = SessionRow(
        id=uuid4(), owner_id=owner, goal="Predict survival.", preferences={}, dataset_ids=[], seed=1
    )
    for name, value in values.items():
        setattr(row, name, value)
    if ended:
        row.status, row.ended_at = "completed", datetime.now(UTC)
    return row


async def journal_of(db: Database, session: UUID) -> int:
    """Rows that hang on a session."""
    tables = ("steps", "calls", "events", "messages", "artifacts", "fits", "audit")
    counts = [await db.row(f"select count(*) as n from {one} where session_id = $1", session) for one in tables]
    return sum(row["n"] for row in counts if row)


async def write_journal(db: Database, session: UUID) -> None:
    for sql in (
        "insert into steps (session_id, seq, node, update, fence, started_at)"
        " values ($1, 1, 'n', '{}', 1, now())",
        "insert into calls (session_id, seq, key, kind, name, request_digest, request, result, fence,"
        " started_at, duration_ms) values ($1, 1, 'tool:1', 'tool', 'n', 'd', '{}', '{}', 1, now(), 1)",
        "insert into events (session_id, n, kind, body) values ($1, 1, 'session_finished', '{}')",
        "insert into messages (session_id, seq, n, role, text) values ($1, 1, 1, 'user', 'hello')",
        "insert into audit (session_id, actor, action) values ($1, 'user', 'session_created')",
    ):
        await db.rows(sql, session)


async def count(db: Database, sql: str, *args: Any) -> int:
    row = await db.row(f"select count(*) as n from {sql}", *args)
    assert row
    return int(row["n"])


async def test_a_session_goes_with_its_journal_its_models_and_the_runs_inside_it(
    app: FastAPI, ada: User
) -> None:
    db: Database = app.state.resources.database
    kept, gone = a_session(ada.id), a_session(ada.id)
    await add(app, kept, gone)
    inside = a_session(ada.id, graph="run", parent_id=gone.id, preferences={"language": "sql"})
    await add(app, inside, an_artifact(ada.id, gone.id), an_artifact(ada.id, kept.id))
    for session in (kept.id, gone.id, inside.id):
        await write_journal(db, session)

    assert (await ada.http.delete(f"{SESSIONS}/{gone.id}/data")).status_code == 204

    assert [await journal_of(db, one) for one in (gone.id, inside.id, kept.id)] == [0, 0, 6]
    listed = (await ada.http.get(SESSIONS)).json()["items"]
    assert [one["id"] for one in listed] == [str(kept.id)]
    again = await ada.http.delete(f"{SESSIONS}/{gone.id}/data")
    assert (again.status_code, again.json()["code"]) == (404, "session_not_found")
    assert (
        await count(db, "audit where action = 'session_deleted' and detail ->> 'session' = $1", str(gone.id))
        == 1
    )


async def test_no_row_of_a_journal_goes_but_with_its_session(app: FastAPI, ada: User) -> None:
    db: Database = app.state.resources.database
    ended, live = a_session(ada.id), a_session(ada.id, ended=False)
    await add(app, ended, live)
    for session in (ended.id, live.id):
        await write_journal(db, session)
        for table in ("steps", "calls", "events", "audit"):
            with pytest.raises(asyncpg.RestrictViolationError):
                await db.rows(f"delete from {table} where session_id = $1", session)
    await db.rows("select forget_part(id, 'journal') from sessions")
    assert [await count(db, "steps where session_id = $1", one) for one in (ended.id, live.id)] == [0, 1]
    assert not await db.rows("select delete_sessions($1)", [live.id])
    refused = await ada.http.get(f"{SESSIONS}/{ended.id}/report/verification")
    assert (refused.status_code, refused.json()["code"]) == (409, "journal_forgotten")
    assert (await ada.http.get(f"{SESSIONS}/{ended.id}")).json()["expired_data"] == ["journal"]


async def test_a_dataset_that_was_used_goes_alone_or_with_what_was_made_of_it(
    app: FastAPI, ada: User, retention_worker: RetentionWorker
) -> None:
    db: Database = app.state.resources.database
    table, other = a_dataset(ada.id), a_dataset(ada.id)
    await add(app, table, other)
    used = a_session(ada.id, dataset_ids=[table.id], goal="Predict who survived.")
    running = a_session(ada.id, ended=False, dataset_ids=[table.id, other.id])
    await add(app, used, running, model := an_artifact(ada.id, used.id, digest="a" * 64))
    predicted = a_session(ada.id, graph="run", preferences={"prediction": {"model": "a" * 64}})
    loose = an_artifact(ada.id, None, kind="table", meta={"model_id": str(model.id), "table_id": str(other.id)})
    await add(app, predicted, loose)

    refused = await ada.http.delete(f"/datasets/{table.id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "derived_exists")
    assert "Predict who survived." in refused.json()["detail"]
    assert {one["id"] for one in refused.json()["derived"]} == {
        str(one.id) for one in (used, running, predicted, loose)
    }
    in_use = await ada.http.delete(f"/datasets/{table.id}?derived=false")
    assert (in_use.status_code, in_use.json()["code"]) == (409, "dataset_in_use")

    asked = await ada.http.delete(f"/datasets/{table.id}?derived=true")
    assert (asked.status_code, asked.json()) == (202, {"remaining_sessions": 1})
    assert (await ada.http.get(f"/datasets/{table.id}")).status_code == 404
    assert (await ada.http.get("/artifacts")).json()["total"] == 0
    waiting = await ada.http.get(f"{SESSIONS}/{running.id}")
    assert waiting.json()["status"] == "cancelling"
    await db.rows("update sessions set status = 'cancelled', ended_at = now() where id = $1", running.id)
    await retention_worker.resume_all_deletions()
    assert await count(db, "sessions") == 0
    assert await count(db, "deletions where done_at is null") == 0
    assert (await ada.http.get(f"/datasets/{other.id}")).status_code == 200


async def test_a_model_goes_alone_or_with_its_predictions(app: FastAPI, ada: User, eve: User) -> None:
    session, live = a_session(ada.id), a_session(ada.id, ended=False)
    await add(app, session, live)
    model, needed = an_artifact(ada.id, session.id), an_artifact(ada.id, live.id)
    loose = an_artifact(ada.id, None, kind="table", meta={"model_id": str(model.id)})
    await add(app, model, needed, loose)
    assert (await eve.http.delete(f"/artifacts/{model.id}")).status_code == 404
    for path, code in (
        (f"/artifacts/{model.id}", "derived_exists"),
        (f"/artifacts/{needed.id}", "session_not_ended"),
    ):
        refused = await ada.http.delete(path)
        assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert (await ada.http.delete(f"/artifacts/{model.id}?derived=true")).status_code == 204
    left = (await ada.http.get("/artifacts")).json()["items"]
    assert [one["id"] for one in left] == [str(needed.id)]


async def test_a_turn_is_deleted_with_its_conversation_only(app: FastAPI, ada: User, eve: User) -> None:
    first = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).json()
    place = {"thread_id": first["thread_id"]}
    second = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "again", **place})).json()
    await app.state.resources.database.rows("update sessions set status = 'completed', ended_at = now()")
    for turn in (first, second):
        path = f"{SESSIONS}/{turn['turn_id']}/data"
        assert (await eve.http.delete(path)).status_code == 404
        refused = await ada.http.delete(path, params={"derived": True})
        assert (refused.status_code, refused.json()["code"]) == (409, "turn_of_thread")
        assert f"DELETE /threads/{first['thread_id']}" in refused.json()["detail"]
    messages = (await ada.http.get(f"/threads/{first['thread_id']}/messages")).json()["messages"]
    assert [message["turn_id"] for message in messages] == [first["turn_id"], second["turn_id"]]
    assert (await ada.http.delete(f"/threads/{first['thread_id']}")).status_code == 204


@pytest.mark.parametrize("completed_by", ["worker", "owner"])
async def test_an_interrupted_deletion_of_a_conversation_is_completed(
    app: FastAPI, ada: User, eve: User, retention_worker: RetentionWorker, completed_by: str
) -> None:
    db: Database = app.state.resources.database
    turn = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).json()
    path = f"/threads/{turn['thread_id']}"
    async with db.dedicated_connection() as connection, hang_guard(), connection.transaction():
        await connection.execute("select from sessions for update")
        deletion = asyncio.create_task(ada.http.delete(path))
        while True:
            if await db.value("select count(*) from pg_locks where not granted"):
                break
            await asyncio.sleep(0.005)
        deletion.cancel()
        await asyncio.wait([deletion])
    assert deletion.cancelled()
    assert (await ada.http.get(path)).status_code == 404
    assert await count(db, "sessions") == 1
    if completed_by == "owner":
        assert (await eve.http.delete(path)).status_code == 404
        assert (await ada.http.delete(path)).status_code == 202
    else:
        await db.rows("update deletions set lease_until = null")
        await retention_worker.resume_all_deletions()
    assert await count(db, "threads") == 0
    await db.rows("update sessions set status = 'cancelled', ended_at = now() where cancel")
    await db.rows("update deletions set lease_until = null")
    await retention_worker.resume_all_deletions()
    for table in ("sessions", "deletions where done_at is null"):
        assert await count(db, table) == 0
    assert await count(db, "audit where action = 'thread_deleted'") == 1
    assert (await ada.http.delete(path)).status_code == 404


async def test_what_a_workspace_has_goes_with_its_conversation_only(app: FastAPI, ada: User) -> None:
    asked = await ada.http.post("/chat?wait=0", json={"message": "SQL: CREATE TABLE t AS SELECT 1 AS a"})
    assert asked.status_code == 202, asked.text
    turn, thread = asked.json()["turn_id"], asked.json()["thread_id"]
    async with app.state.resources.open_uow() as uow:
        row = await uow.db.get_one(SessionRow, UUID(turn))
        row.status, row.ended_at = "completed", datetime.now(UTC)
    entry = {"kind": "table", "digest": "a" * 64, "size_bytes": 1, "rows": 1, "columns": []}
    table = an_artifact(ada.id, UUID(turn), kind="frame", name="t", digest="a" * 64)
    answer = an_artifact(ada.id, UUID(turn), kind="frame", name="answer", digest="b" * 64)
    snapshot = an_artifact(ada.id, UUID(turn), kind="workspace", digest="c" * 64, meta={"tables": {"t": entry}})
    await add(app, table, answer, snapshot)
    for artifact in (table, snapshot):
        refused = await ada.http.delete(f"/artifacts/{artifact.id}")
        assert (refused.status_code, refused.json()["code"]) == (409, "artifact_in_use")
    # Rows that were an answer and no table are only looked at.
    assert (await ada.http.delete(f"/artifacts/{answer.id}")).status_code == 204
    assert (await ada.http.delete(f"/threads/{thread}")).status_code in (202, 204)
    assert (await ada.http.get(f"/artifacts/{table.id}")).status_code == 404


async def test_an_account_goes_with_all_that_it_owns_and_leaves_one_line_without_a_name(
    app: FastAPI, ada: User, eve: User, retention_worker: RetentionWorker
) -> None:
    db: Database = app.state.resources.database
    key = (await ada.http.post("/auth/api_keys", json={"name": "nightly"})).json()["key"]
    running, ended = a_session(ada.id, ended=False), a_session(ada.id)
    await add(app, a_dataset(ada.id), a_dataset(eve.id), running, ended, a_session(eve.id))
    await write_journal(db, ended.id)
    await db.rows(
        "with s as (insert into price_series (owner_id, coin, interval_s, bars, first_at, last_at, summary) "
        "values ($1, 'BTC', 60, 1, now(), now(), '{}') returning id) "
        "insert into price_bars select id, now(), 1, 1, 1, 1, 1 from s",
        ada.id,
    )
    redis = app.state.resources.redis
    await redis.set(f"meter:{{uploads:{ada.id}:600/hour}}", 1)

    wrong = await ada.http.post("/auth/me/deletion", json={"password": "not this one"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, "password_wrong")
    by_key = await client_of(app, key).post("/auth/me/deletion", json={"password": PASSWORD})
    assert by_key.status_code == 403
    asked = await ada.http.post("/auth/me/deletion", json={"password": PASSWORD})
    assert (asked.status_code, asked.json()["kind"]) == (202, "user")

    assert (await ada.http.get("/auth/me")).status_code == 401
    assert (await client_of(app, key).get("/auth/me")).status_code == 401
    account = {"email": ada.email, "password": PASSWORD}
    assert (await client_of(app).post("/auth/token", json=account)).status_code == 401
    await retention_worker.resume_all_deletions()  # and stops, for a session still runs
    assert await count(db, "users where id = $1", ada.id) == 1
    assert await count(db, "price_bars") == 0
    await db.rows("update sessions set status = 'cancelled', ended_at = now() where id = $1", running.id)
    await db.rows("update deletions set lease_until = null")
    await retention_worker.resume_all_deletions()

    assert await count(db, "users where id = $1", ada.id) == 0
    for table in ("sessions", "datasets"):
        assert [row["owner_id"] for row in await db.rows(f"select owner_id from {table}")] == [eve.id]
    trail = await db.rows("select action, detail from audit where owner_id = $1 order by id", ada.id)
    assert trail[-1]["action"] == "user_deleted"
    assert json.loads(trail[-1]["detail"])["gone"]["sessions"] == 2
    assert not any(ada.email in str(dict(row)) for row in trail)
    assert [key async for key in redis.scan_iter(match=f"*{ada.id}*")] == []
    assert (await client_of(app).post("/auth/register", json=account)).status_code == 201


async def test_an_admin_deletes_an_account_but_not_the_last_admins(app: FastAPI, ada: User, eve: User) -> None:
    db: Database = app.state.resources.database
    await db.rows("update users set role = 'admin' where id = $1", ada.id)
    await app.state.auth_services.revocations.announce(ada.id)
    own = await ada.http.delete(f"/admin/users/{ada.id}")
    assert (own.status_code, own.json()["code"]) == (409, "own_account")
    last = await ada.http.post("/auth/me/deletion", json={"password": PASSWORD})
    assert (last.status_code, last.json()["code"]) == (409, "only_admin")
    first, again = [await ada.http.delete(f"/admin/users/{eve.id}") for _ in range(2)]
    assert (first.status_code, first.json()["id"]) == (202, again.json()["id"])
    assert (await eve.http.get("/auth/me")).status_code == 401
    assert (await ada.http.get("/admin/deletions")).json()["items"] == [first.json()]
    assert (await ada.http.delete(f"/admin/users/{uuid4()}")).status_code == 404
