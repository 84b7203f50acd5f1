"""A worker that is killed at the statements of turns: each ends once, with the answer of a worker that lives.

The turns change what the conversation has, so that one that took effect twice would show in those after it.
`LABCREW_KILL_PLACES=all` takes every place.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.integration.sessions.lab.service import PLACE
from tests.patience import hang_guard

from .conftest import User
from .mortal_workers import end_dead_leases
from .test_killed_workflow_runs import choose_places
from .test_threads import dataset, read_events  # noqa: F401 - a fixture
from .test_workspace_property import compare_with_straight_run, describe, draw_tree, grow

pytestmark = pytest.mark.slow

MESSAGES = (
    "SQL: create table t as select city, people from cities",
    "SQL: update t set people = people + 1",
    "PYTHON: seen = [len(t)]\nframe = t.assign(n=range(len(t)))",
    "PYTHON: seen.append(sum(seen))\nresult = seen",
    "total people by country as a bar chart",
    "write notes.md: four cities",
)
MAX_PLACE = 18
"""A turn has about eight statements; a place is before or after one."""
SAMPLED_PLACES = 2
"""Each is a conversation of six turns whose worker dies six times: ten seconds."""
UNLIKE = ("turn_id", "thread_id", "worldline_id", "parent_id", "created_at", "started_at", "ended_at")
"""What two turns that answer alike differ in, beside the ids of their artifacts."""


@asynccontextmanager
async def lapsing(app: FastAPI, folder: Path) -> AsyncIterator[None]:
    """End the leases of workers that die meanwhile."""

    async def lapse() -> None:
        while True:
            await end_dead_leases(app.state.resources.database, folder)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(lapse())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def send(ada: User, message: str, **wanted: Any) -> dict[str, Any]:
    """Send a message, follow its events to the last, and return its turn. Each event comes once."""
    async with hang_guard():
        streamed = await ada.http.post("/chat/stream", json={"message": message, **wanted})
    events = read_events(streamed.text)
    turn_id = events[0]["data"]["turn_id"]
    cursors = [event["id"] for event in events if event["id"]]
    assert len({*cursors}) == len(cursors), events
    assert [event["event"] for event in events].count("done") == 1, events
    stored = await ada.http.get(f"/turns/{turn_id}/events", headers={"Last-Event-ID": cursors[0]})
    assert [event["id"] for event in read_events(stored.text) if event["id"]] == cursors[1:]
    turn: dict[str, Any] = (await ada.http.get(f"/turns/{turn_id}")).json()
    return turn


def without_ids(value: Any) -> Any:
    """A turn, or a part of one, without what is another one's in each conversation."""
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in UNLIKE}
        return {name: without_ids(item) for name, item in kept.items() if name not in ("id", "artifact")}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


async def talk(ada: User, dataset_id: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Send the messages in order; return their turns, and what the conversation has after them."""
    turns = [await send(ada, MESSAGES[0], dataset_ids=[dataset_id])]
    for message in MESSAGES[1:]:
        turns.append(await send(ada, message, thread_id=turns[0]["thread_id"]))
    return turns, await describe(ada, turns[-1])


async def test_a_turn_ends_once_with_its_answer_whatever_statement_its_worker_dies_at(
    app: FastAPI,
    ada: User,
    dataset: str,  # noqa: F811
    folder: Path,
) -> None:
    unharmed, workspace = await talk(ada, dataset)
    assert [turn["status"] for turn in unharmed] == ["succeeded"] * len(MESSAGES), unharmed
    assert unharmed[3]["text"] == "[4, 4]"
    struck = 0
    places = choose_places(MAX_PLACE, SAMPLED_PLACES)
    async with lapsing(app, folder):
        for place in places:
            (folder / PLACE).write_text(str(place))
            turns, seen = await talk(ada, dataset)
            struck += sum((folder / f"struck-{turn['turn_id']}").exists() for turn in turns)
            for turn, expected in zip(turns, unharmed, strict=True):
                assert without_ids(turn) == without_ids(expected), place
            assert seen == workspace, place
    assert struck >= len(places) * len(MESSAGES) // 2


async def test_a_tree_of_turns_has_the_workspaces_of_straight_runs_wherever_its_worker_dies(
    app: FastAPI,
    ada: User,
    dataset: str,  # noqa: F811
    folder: Path,
) -> None:
    # Drawn as in test_workspace_property.py, each turn with a place of its own.
    chance = random.Random(int(os.environ.get("LABCREW_TURN_SEED") or 1))
    nodes = draw_tree(chance)
    async with lapsing(app, folder):
        for node in nodes:
            (folder / PLACE).write_text(str(chance.randint(2, MAX_PLACE)))
            await grow(ada, dataset, [node], send)
        struck = sum((folder / f"struck-{node.turn['turn_id']}").exists() for node in nodes)
        (folder / PLACE).write_text("nowhere")
        for head in [node for node in nodes if node.is_head]:
            await compare_with_straight_run(ada, dataset, head)
    assert struck >= len(nodes) // 2
