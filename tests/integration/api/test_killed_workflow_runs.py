"""A worker that is killed at the statements of a run: it ends once, and no message goes out twice unasked."""

import asyncio
import os
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.integration.sessions.lab.service import PLACE
from tests.patience import hang_guard

from app.settings import Settings

from .conftest import User
from .mortal_workers import end_dead_leases
from .test_workflow_nodes import SALES, chain, read, save, upload
from .test_workflow_runs import Outside, outside  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow

MAX_PLACE = 56
"""A run of four nodes has about 27 statements; a place is before or after one."""
SAMPLED_PLACES = 14
MAX_ITEM_PLACE = 60
"""A run of three nodes and three items has about 40 statements."""
SAMPLED_ITEM_PLACES = 6
LEAVE = "leave it"


@pytest.fixture
def settings(settings: Settings, outside: Outside) -> Settings:  # noqa: F811
    return settings.model_copy(update={"http_allowed_hosts": (outside.url.removeprefix("http://"),)})


async def save_sender(
    ada: User,
    outside: Outside,  # noqa: F811
    nodes: list[dict[str, Any]],
    ends: list[tuple[str, str]],
) -> str:
    """Save a workflow that sends to the outside, and allow its user to."""
    host = outside.url.removeprefix("http://")
    assert (await ada.http.put("/request-hosts", json={"hosts": [host]})).status_code == 200
    edges = [{"from": source, "to": target} for source, target in ends]
    return await save(ada, {"name": "Killed", "nodes": nodes, "edges": edges})


@pytest.fixture
async def path(ada: User, outside: Outside) -> str:  # noqa: F811
    nodes = [
        {"id": "flights", "type": "http_request", "config": {"url": f"{outside.url}/x", "records": "/flights"}},
        {"id": "best", "type": "sql", "config": {"sql": "SELECT min(price) AS low FROM flights"}},
        {"id": "tell", "type": "notify", "config": {"channel": "slack", "to": f"{outside.url}/tell"}},
        {
            "id": "repeat",
            "type": "notify",
            "config": {"channel": "slack", "to": f"{outside.url}/repeat", "repeatable": True},
        },
    ]
    ends = [("flights", "best"), ("best", "tell"), ("best", "repeat")]
    return await save_sender(ada, outside, nodes, ends)


def sent_keys(outside: Outside) -> Counter[str]:  # noqa: F811
    """Count the messages that arrived, by their idempotency keys."""
    heads = [head for head in outside.heads if head.startswith("POST")]
    return Counter(key for head in heads for key in re.findall(r"idempotency-key: (\S+)", head, re.IGNORECASE))


async def until_the_end(app: FastAPI, ada: User, place: str, folder: Path) -> tuple[dict[str, Any], bool]:
    """Follow a run to its end, and refuse to send again what may have been sent. Return it, and if it asked."""
    has_asked = False
    async with hang_guard():
        while True:
            await end_dead_leases(app.state.resources.database, folder)
            view: dict[str, Any] = (await ada.http.get(place)).json()
            if view["ended_at"]:
                return view, has_asked
            if view["question"]:
                assert "may have been sent" in view["question"]["text"]
                await ada.http.post(f"{place}/answer", json={"answer": LEAVE, "key": view["question"]["key"]})
                has_asked = True
            await asyncio.sleep(0.02)


def choose_places(end: int, sample_size: int) -> list[int]:
    """Return some places, or all of them where the environment says so."""
    places = list(range(2, end))
    if os.environ.get("LABCREW_KILL_PLACES") == "all":
        return places
    return sorted(random.Random(7).sample(places, sample_size))


@dataclass
class KilledRun:
    """A run whose worker was to die at a place. `is_struck`: it did; `has_asked`: the run asked its owner."""

    id: str
    view: dict[str, Any]
    is_struck: bool
    has_asked: bool


async def run_killed(app: FastAPI, ada: User, path: str, folder: Path, place: int) -> KilledRun:
    (folder / PLACE).write_text(str(place))
    run_id = (await ada.http.post(f"{path}/run", json={})).json()["id"]
    mark = folder / f"struck-{run_id}"
    view, has_asked = await until_the_end(app, ada, f"/workflow-runs/{run_id}", folder)
    return KilledRun(run_id, view, mark.exists(), has_asked)


@pytest.fixture
async def path_of_items(ada: User, outside: Outside) -> str:  # noqa: F811
    note = {"id": "note", "type": "notify", "config": {"channel": "slack", "to": f"{outside.url}/note"}}
    nodes = [
        {"id": "flights", "type": "http_request", "config": {"url": f"{outside.url}/x", "records": "/flights"}},
        {"id": "keep", "type": "store", "config": {"name": "flights"}},
        {"id": "each", "type": "for_each", "config": {"column": "price", "nodes": [note]}},
    ]
    ends = [("flights", "keep"), ("keep", "each")]
    return await save_sender(ada, outside, nodes, ends)


async def test_items_and_stored_datasets_come_once_whatever_statement_the_worker_dies_at(
    app: FastAPI,
    ada: User,
    path_of_items: str,
    outside: Outside,  # noqa: F811
    folder: Path,
) -> None:
    places = choose_places(MAX_ITEM_PLACE, SAMPLED_ITEM_PLACES)
    struck = 0
    for place in places:
        killed = await run_killed(app, ada, path_of_items, folder, place)
        struck += killed.is_struck
        items = killed.view["nodes"]["each"]["items"]
        assert [item["item"] for item in items] == [80, 120, 400]
        keys = sent_keys(outside)
        sent = [keys[f"{killed.id}:each-{number}-note"] for number in range(3)]
        unsure = [item["status"] == "failed" for item in items]
        assert sum(unsure) == killed.has_asked, (place, killed.view)
        assert all(
            count == 1 or (is_unsure and count == 0) for count, is_unsure in zip(sent, unsure, strict=True)
        )
        stored = "select count(*) from datasets where idempotency_key = $1"
        assert await app.state.resources.database.value(stored, f"workflow {killed.id}:keep") == 1
    assert struck >= len(places) // 2


async def test_a_run_ends_once_whatever_statement_its_worker_dies_at(
    app: FastAPI,
    ada: User,
    path: str,
    outside: Outside,  # noqa: F811
    folder: Path,
) -> None:
    places = choose_places(MAX_PLACE, SAMPLED_PLACES)
    struck = asked = 0
    for place in places:
        killed = await run_killed(app, ada, path, folder, place)
        run_id, view, has_asked = killed.id, killed.view, killed.has_asked
        struck, asked = struck + killed.is_struck, asked + has_asked
        statuses = {name: node["status"] for name, node in view["nodes"].items()}
        keys = sent_keys(outside)
        assert statuses["tell"] == ("unknown" if has_asked else "done"), (place, view)
        assert keys[f"{run_id}:tell"] in ((0, 1) if has_asked else (1,)), place
        assert (statuses["repeat"], keys[f"{run_id}:repeat"] >= 1) == ("done", True), (place, view)
        ends = "select count(*) from events where session_id = $1 and kind = 'session_finished'"
        assert await app.state.resources.database.value(ends, run_id) == 1
    assert struck >= len(places) // 2
    if len(places) > SAMPLED_PLACES:
        assert asked >= 2


JOIN_PLACES = (7, 12, 16, 19, 22, 25)
"""Statements of the run at its branches, at the node where they join, and behind it."""


async def test_branches_join_again_whatever_statement_the_worker_dies_at(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
    folder: Path,
) -> None:
    dataset = await upload(ada, "sales", SALES)
    tell = {"id": "tell", "type": "notify", "config": {"channel": "slack", "to": f"{outside.url}/x"}}
    nodes = [
        read(dataset),
        {"id": "many", "type": "store", "config": {"name": "many"}},
        {"id": "few", "type": "store", "config": {"name": "few"}},
        {**tell, "config": {**tell["config"], "repeatable": True}, "needs": "any"},
    ]
    content = {
        "name": "Joined",
        "nodes": nodes,
        "edges": [
            {"from": "read", "to": "many", "condition": {"field": "rows", "op": ">", "value": 3}},
            {"from": "read", "to": "few", "condition": {"field": "rows", "op": "<=", "value": 3}},
            {"from": "many", "to": "tell"},
            {"from": "few", "to": "tell"},
        ],
    }
    host = outside.url.removeprefix("http://")
    assert (await ada.http.put("/request-hosts", json={"hosts": [host]})).status_code == 200
    path = await save(ada, content)
    struck = 0
    for place in JOIN_PLACES:
        killed = await run_killed(app, ada, path, folder, place)
        struck += killed.is_struck
        statuses = {name: node["status"] for name, node in killed.view["nodes"].items()}
        assert statuses == {"read": "done", "many": "done", "few": "skipped", "tell": "done"}, (place, killed)
        assert "9 rows" in outside.messages[-1]["text"]
        stored = "select count(*) from datasets where idempotency_key = $1"
        assert await app.state.resources.database.value(stored, f"workflow {killed.id}:many") == 1
    assert struck >= len(JOIN_PLACES) // 2


WAIT_PLACES = (7, 11, 14, 17, 20, 23, 26)
"""Statements of the run at its failed attempts, at the beginning and the end of its waits, and behind them."""


async def test_waits_between_attempts_end_once_whatever_statement_the_worker_dies_at(
    app: FastAPI,
    ada: User,
    outside: Outside,  # noqa: F811
    folder: Path,
) -> None:
    request = {"url": f"{outside.url}/busy", "records": "/flights", "retries": 5}
    message = {"channel": "slack", "to": f"{outside.url}/busy", "repeatable": True, "retries": 5}
    nodes = [
        {"id": "flights", "type": "http_request", "config": request},
        {"id": "keep", "type": "store", "config": {"name": "flights"}},
        {"id": "tell", "type": "notify", "config": message},
    ]
    path = await save_sender(ada, outside, nodes, [("flights", "keep"), ("keep", "tell")])
    database, struck = app.state.resources.database, 0
    for place in WAIT_PLACES:
        killed = await run_killed(app, ada, path, folder, place)
        struck += killed.is_struck
        assert killed.view["outcome"] == "succeeded", (place, killed.view)
        assert sent_keys(outside)[f"{killed.id}:tell"] >= 2, "it was refused, and sent again by the same key"
        stored = "select count(*) from datasets where idempotency_key = $1"
        assert await database.value(stored, f"workflow {killed.id}:keep") == 1
        ends = "select count(*) from events where session_id = $1 and kind = 'session_finished'"
        assert await database.value(ends, killed.id) == 1
    assert struck >= len(WAIT_PLACES) // 2


STUDY_PLACES = (9, 13, 17, 21)
"""Statements of the run before, at and behind the beginning of its wait."""


async def test_a_run_that_waits_for_a_study_ends_once_whatever_statement_its_worker_dies_at(
    app: FastAPI,
    ada: User,
    folder: Path,
) -> None:
    dataset = await upload(ada, "sales", SALES)
    learn = {"id": "learn", "type": "study", "config": {"goal": "mean amount by region", "time_budget_s": 5}}
    path = await save(ada, chain(read(dataset), learn))
    struck = 0
    for place in STUDY_PLACES:
        (folder / PLACE).write_text(str(place))
        run_id = (await ada.http.post(f"{path}/run", json={})).json()["id"]
        view: dict[str, Any] = {"ended_at": None}
        async with hang_guard():
            while not view["ended_at"]:
                await end_dead_leases(app.state.resources.database, folder)
                view = (await ada.http.get(f"/workflow-runs/{run_id}")).json()
                await asyncio.sleep(0.02)
        struck += (folder / f"struck-{run_id}").exists()
        assert view["nodes"]["learn"]["study"]["status"] == "completed", (place, view)
    assert struck >= len(STUDY_PLACES) // 2
    studies = "select count(*) from sessions where owner_id = $1 and graph = 'pipeline'"
    assert await app.state.resources.database.value(studies, ada.id) == len(STUDY_PLACES)


CANCEL_PLACES = (8, 9, 10, 13, 15)
"""Before and behind the statement of the run that creates the study, and at the beginning of the wait."""


async def test_a_run_that_is_cancelled_when_its_worker_dies_leaves_no_study_behind(
    app: FastAPI,
    ada: User,
    folder: Path,
) -> None:
    dataset = await upload(ada, "sales", SALES)
    learn: dict[str, Any] = {"id": "learn", "type": "study", "config": {"goal": "predict it", "ask": True}}
    path = await save(ada, chain(read(dataset), learn))
    database = app.state.resources.database
    live = "select count(*) from sessions where owner_id = $1 and ended_at is null"
    for place in CANCEL_PLACES:
        (folder / PLACE).write_text(str(place))
        run_id = (await ada.http.post(f"{path}/run", json={})).json()["id"]
        mark = folder / f"struck-{run_id}"
        async with hang_guard():
            while not mark.exists():  # noqa: ASYNC110 - another process makes the file
                await asyncio.sleep(0.02)
            assert (await ada.http.post(f"/workflow-runs/{run_id}/cancel")).status_code == 202
            while await database.value(live, ada.id):
                await end_dead_leases(database, folder)
                await asyncio.sleep(0.02)
        assert (await ada.http.get(f"/workflow-runs/{run_id}")).json()["status"] == "cancelled", place
    started = "select status from sessions where owner_id = $1 and graph = 'pipeline'"
    ends = await database.column(started, ada.id)
    assert ends == ["cancelled"] * len(ends)
    assert 0 < len(ends) < len(CANCEL_PLACES)
