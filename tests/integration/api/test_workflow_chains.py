"""Workflows that trigger each other by the datasets that they store."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import uvicorn
from fastapi import FastAPI
from tests.patience import hang_guard

from app.settings import Settings
from app.workflows.runs.graph import MAX_CHAINED_RUNS
from app.workflows.triggers.sweep import TriggerSweep

from .conftest import User
from .test_workflow_nodes import SALES, read, save, upload


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def settings(settings: Settings, listener: socket.socket) -> Settings:
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    return settings.model_copy(update={"http_allowed_hosts": (host,)})


LIVE = "select count(*) from sessions where graph = 'workflow' and ended_at is null"
RUNS = "select id from sessions where graph = 'workflow' order by created_at"


def follower(name: str, awaited: str, stored: str) -> dict[str, Any]:
    """Make a workflow that stores each new version of a dataset under another name."""
    trigger = {"id": "new", "type": "trigger", "config": {"kind": "dataset", "dataset_id": awaited}}
    keep = {"id": "keep", "type": "store", "config": {"name": stored}}
    edges = [{"from": "read", "to": "keep"}]
    return {"name": name, "nodes": [read(awaited), keep, trigger], "edges": edges}


@pytest.mark.usefixtures("worker")
async def test_workflows_that_trigger_each_other_end_with_a_reason_that_names_them(
    app: FastAPI, ada: User
) -> None:
    left, right = await upload(ada, "left", SALES), await upload(ada, "right", SALES)
    await save(ada, follower("Forth", left, "right"))
    await save(ada, follower("Back", right, "left"))
    resources = app.state.resources
    sweep = TriggerSweep(resources.database, resources.send, resources.settings.sessions)
    await upload(ada, "left", SALES)
    async with hang_guard():
        while await sweep.sweep():
            while await resources.database.value(LIVE):  # noqa: ASYNC110 - rows say it
                await asyncio.sleep(0.01)
    ids = await resources.database.column(RUNS)
    runs = [(await ada.http.get(f"/workflow-runs/{run_id}")).json() for run_id in ids]
    assert [run["outcome"] for run in runs] == ["succeeded"] * (MAX_CHAINED_RUNS + 1) + [None]
    last = runs[-1]
    assert (last["status"], last["nodes"]) == ("failed", {})
    assert "Forth -> Back -> Forth" in last["error"]

    # A new table of the user's begins a chain of its own.
    await upload(ada, "left", SALES)
    assert await sweep.sweep() == 1


def caller(url: str) -> dict[str, Any]:
    """Make a workflow that calls an address when it is called, and denies by whom."""
    headers = {"x-labcrew-run": str(uuid4()), "X-LABCREW-RUN": str(uuid4())}
    config = {"url": url, "method": "POST", "json_body": {}, "headers": headers}
    hook = {"id": "hook", "type": "trigger", "config": {"kind": "webhook"}}
    return {
        "name": "Echo",
        "nodes": [hook, {"id": "call", "type": "http_request", "config": config}],
        "edges": [],
    }


@pytest.mark.usefixtures("worker")
async def test_a_workflow_that_calls_its_own_webhook_ends_whatever_headers_it_sends(
    app: FastAPI, ada: User, listener: socket.socket
) -> None:
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    assert (await ada.http.put("/request-hosts", json={"hosts": [host]})).status_code == 200
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    path = await save(ada, caller(f"http://{host}/"))
    token = (await ada.http.post(f"{path}/triggers/hook/token")).json()
    saved = await ada.http.put(path, json={**caller(f"http://{host}{token['path']}"), "version": 1})
    assert saved.status_code == 200, saved.text
    assert (await ada.http.post(f"{path}/run", json={})).status_code == 201
    database = app.state.resources.database
    async with hang_guard():
        while await database.value(LIVE):  # noqa: ASYNC110 - rows say it
            await asyncio.sleep(0.01)
    server.should_exit = True
    await serving
    ids = await database.column(RUNS)
    runs = [(await ada.http.get(f"/workflow-runs/{run_id}")).json() for run_id in ids]
    assert [run["outcome"] for run in runs] == ["succeeded"] * (MAX_CHAINED_RUNS + 1) + [None]
    assert "Echo -> Echo" in runs[-1]["error"]
