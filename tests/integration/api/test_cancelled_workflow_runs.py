"""A cancel of a run that waits for a study reaches the study, unless another session waits for it, too."""

import asyncio
from typing import Any, Literal
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.api.dependencies.sessions import session_service
from app.db.pool import Database
from app.errors import Conflict
from app.sessions.admission import AdmissionQueue
from app.sessions.schemas import SessionCreate
from app.sessions.statements import LIFECYCLE
from app.sessions.sweeper import sweep

from .conftest import User
from .test_workflow_nodes import SALES, chain, read, save, upload
from .test_workflow_runs import follow

pytestmark = pytest.mark.usefixtures("worker")
WAITS = """
select r.after_id from sessions r join sessions p on p.id = r.after_id and p.status = 'awaiting_user'
where r.id = $1 and r.wait_until is not null and r.lease_until is null
"""


@pytest.fixture
def database(app: FastAPI) -> Database:
    database: Database = app.state.resources.database
    return database


async def begin(ada: User, path: str, database: Database) -> tuple[UUID, UUID]:
    """Start a run whose study asks its user. Return both once the run waits for the study."""
    run_id = UUID((await ada.http.post(f"{path}/run", json={})).json()["id"])
    async with hang_guard():
        while (study := await database.value(WAITS, run_id)) is None:  # noqa: ASYNC110 - a row says it
            await asyncio.sleep(0.02)
    return run_id, study


async def save_study(ada: User) -> str:
    learn: dict[str, Any] = {"id": "learn", "type": "study", "config": {"goal": "predict it", "ask": True}}
    return await save(ada, chain(read(await upload(ada, "sales", SALES)), learn))


async def follow_study(ada: User, study: UUID) -> str:
    async with hang_guard():
        while True:
            view = (await ada.http.get(f"/lab/agent/sessions/{study}")).json()
            if view["ended_at"]:
                return str(view["status"])
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("end", ["cancel", "delete"])
async def test_the_end_of_a_run_cancels_the_study_that_it_waits_for(
    ada: User, database: Database, end: Literal["cancel", "delete"]
) -> None:
    run_id, study = await begin(ada, await save_study(ada), database)
    if end == "cancel":
        assert (await ada.http.post(f"/workflow-runs/{run_id}/cancel")).status_code == 202
        assert (await follow(ada, f"/workflow-runs/{run_id}"))["status"] == "cancelled"
    else:
        # 204 where a worker has ended the run before the request looks for what is left of it
        assert (await ada.http.delete(f"/runs/{run_id}/data")).status_code in {202, 204}
    assert await follow_study(ada, study) == "cancelled"


async def pass_deadline(app: FastAPI, database: Database, run_id: UUID) -> None:
    """Let the time of a run be over, and its wait as well: only then is it claimed again."""
    values = "deadline_at = now() - interval '1 day', wait_until = now()"
    await database.rows(f"update sessions set {values} where id = $1", run_id)
    assert await sweep(database, lambda job: None, 60) == 1
    await AdmissionQueue(database, lambda job: None, app.state.resources.settings.sessions).admit()


async def test_a_run_whose_time_is_over_cancels_its_study_unless_another_session_waits_for_it(
    app: FastAPI, ada: User, database: Database
) -> None:
    path = await save_study(ada)
    run_id, study = await begin(ada, path, database)
    other, shared = await begin(ada, path, database)
    third, own = await begin(ada, path, database)
    await database.rows("update sessions set after_id = $2 where id = $1", third, shared)
    await pass_deadline(app, database, run_id)
    view = await follow(ada, f"/workflow-runs/{run_id}")
    assert view["status"] == "failed", view
    assert await follow_study(ada, study) == "cancelled"
    await pass_deadline(app, database, other)
    assert (await follow(ada, f"/workflow-runs/{other}"))["status"] == "failed"
    states = [
        (await ada.http.get(f"/lab/agent/sessions/{session}")).json()["status"] for session in (shared, own)
    ]
    assert states == ["awaiting_user", "awaiting_user"]


async def test_a_study_that_another_session_waits_for_goes_on(ada: User, database: Database) -> None:
    path = await save_study(ada)
    first, shared = await begin(ada, path, database)
    second, own = await begin(ada, path, database)
    await database.rows("update sessions set after_id = $2 where id = $1", second, shared)
    await ada.http.post(f"/workflow-runs/{first}/cancel")
    assert (await follow(ada, f"/workflow-runs/{first}"))["status"] == "cancelled"
    assert (await ada.http.get(f"/lab/agent/sessions/{shared}")).json()["status"] == "awaiting_user"
    await ada.http.post(f"/workflow-runs/{second}/cancel")
    assert await follow_study(ada, own) == "cancelled"


async def test_a_study_that_its_user_cancels_fails_its_node_alone(ada: User, database: Database) -> None:
    run_id, study = await begin(ada, await save_study(ada), database)
    assert (await ada.http.delete(f"/lab/agent/sessions/{study}")).status_code == 202
    view = await follow(ada, f"/workflow-runs/{run_id}")
    node = view["nodes"]["learn"]
    assert (view["status"], view["outcome"]) == ("completed", "failed")
    assert (node["code"], node["error"]) == (
        "study_cancelled",
        "The study was cancelled before it had a result. Run this node again to start another one.",
    )


async def test_a_cancelled_run_starts_no_study(app: FastAPI, ada: User, database: Database) -> None:
    run_id, _ = await begin(ada, await save_study(ada), database)
    await ada.http.post(f"/workflow-runs/{run_id}/cancel")
    await follow(ada, f"/workflow-runs/{run_id}")
    request = SessionCreate(goal="predict it")
    with pytest.raises(Conflict) as refusal:
        await session_service(app.state.resources).create(ada.id, request, parent_id=run_id)
    assert refusal.value.code == "parent_ended"


async def test_a_cancel_waits_for_a_study_that_starts_meanwhile_and_reaches_it(
    ada: User, database: Database
) -> None:
    run_id, _ = await begin(ada, await save_study(ada), database)
    late = uuid4()
    values = (late, ada.id, "pipeline", "predict it", "{}", [], 1, None, 0, run_id, 0, 0, 0)
    locked = "select count(*) from pg_locks where not granted and transactionid is not null"
    async with database.dedicated_connection() as connection:
        async with hang_guard(), connection.transaction():
            await connection.fetch(LIFECYCLE.create, *values)
            cancel = asyncio.create_task(ada.http.post(f"/workflow-runs/{run_id}/cancel"))
            while not await connection.fetchval(locked):  # noqa: ASYNC110 - a row says it
                await asyncio.sleep(0.01)
        assert (await cancel).status_code == 202
    assert await follow_study(ada, late) == "cancelled"
