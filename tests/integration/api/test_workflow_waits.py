"""A run that has to wait for another service gives its place up, and goes on by itself."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.sessions.admission import AdmissionQueue
from app.sessions.sweeper import sweep
from app.settings import Settings

from .conftest import User
from .test_workflow_nodes import save
from .test_workflow_runs import Outside, follow, outside, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("worker")
WAITS = """
select count(*) from sessions
where id = $1 and wait_until is not null and after_id is null and lease_until is null and admitted_at is null
"""


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


async def save_request(ada: User, outside: Outside, path: str) -> str:  # noqa: F811
    hosts = [outside.url.removeprefix("http://")]
    assert (await ada.http.put("/request-hosts", json={"hosts": hosts})).status_code == 200
    config = {"url": f"{outside.url}{path}", "records": "/flights"}
    nodes: list[dict[str, Any]] = [{"id": "flights", "type": "http_request", "config": config}]
    return await save(ada, {"name": "Waits", "nodes": nodes, "edges": []})


async def wake(app: FastAPI) -> None:
    """Look for what is due, as the sweeper of each worker does."""
    database, sessions = app.state.resources.database, app.state.resources.settings.sessions
    await sweep(database, lambda job: None, 60)
    await AdmissionQueue(database, lambda job: None, sessions).admit()


async def run_awake(app: FastAPI, ada: User, path: str) -> dict[str, Any]:
    """Start a run and return it when it has ended; what waits meanwhile is woken when its time has come."""
    started = await ada.http.post(f"{path}/run", json={})
    place = started.headers["Location"].partition("/api/v1")[2]
    async with hang_guard():
        while not (view := (await ada.http.get(place)).json())["ended_at"]:
            await wake(app)
            await asyncio.sleep(0.02)
    return view


async def test_a_run_that_is_to_come_again_in_ten_minutes_holds_no_place(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
) -> None:
    path = await save_request(ada, outside, "/limited")
    begun = (await ada.http.post(f"{path}/run", json={})).json()["id"]
    database = app.state.resources.database
    async with hang_guard():
        while not await database.value(WAITS, UUID(begun)):  # noqa: ASYNC110 - a row says it
            await asyncio.sleep(0.02)
        # Neither a sweep nor another look ends the wait before its time.
        await wake(app)
        view = (await ada.http.get(f"/workflow-runs/{begun}")).json()
        assert view["status"] == "waiting"
        assert datetime.fromisoformat(view["waits_until"]) > datetime.now(UTC) + timedelta(minutes=5)
        assert len(outside.heads) == 1
        await database.rows("update sessions set wait_until = now() where id = $1", UUID(begun))
        await wake(app)
        ended = await follow(ada, f"/workflow-runs/{begun}")
    assert (ended["outcome"], ended["waits_until"]) == ("succeeded", None), ended
    assert len(outside.heads) == 2, "one attempt before the wait, one behind it"


async def test_a_run_that_waits_is_cancelled_at_once(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
) -> None:
    path = await save_request(ada, outside, "/limited")
    begun = (await ada.http.post(f"{path}/run", json={})).json()["id"]
    async with hang_guard():
        while not await app.state.resources.database.value(WAITS, UUID(begun)):  # noqa: ASYNC110 - a row says it
            await asyncio.sleep(0.02)
        assert (await ada.http.post(f"/workflow-runs/{begun}/cancel")).status_code == 202
        assert (await follow(ada, f"/workflow-runs/{begun}"))["status"] == "cancelled"
