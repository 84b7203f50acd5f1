"""Workflows that trigger each other by the datasets that they store."""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.workflows.runs.graph import MAX_CHAINED_RUNS
from app.workflows.triggers.sweep import TriggerSweep

from .conftest import User
from .test_workflow_nodes import SALES, read, save, upload

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
