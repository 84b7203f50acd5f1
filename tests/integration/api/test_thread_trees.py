"""The tree of a conversation, and the artifacts of its branches."""

from typing import Any

import pytest
from prometheus_client import REGISTRY

from .conftest import User
from .test_threads import ask, dataset

__all__ = ["dataset"]


async def branch(user: User, turn: dict[str, Any], message: str) -> dict[str, Any]:
    body = {"thread_id": turn["thread_id"], "from_turn": turn["turn_id"], "name": "other"}
    worldline = (await user.http.post("/worldlines", json=body)).json()
    return await ask(user, message, worldline_id=worldline["id"])


@pytest.mark.usefixtures("worker")
async def test_a_tree_shows_turns_with_their_parents_and_each_branch_lists_its_artifacts(
    ada: User, dataset: str
) -> None:
    first = await ask(ada, "SQL: select city from cities", dataset_ids=[dataset])
    second = await ask(ada, "SQL: select peple from cities", thread_id=first["thread_id"])
    third = await branch(ada, first, "SQL: select country from cities")

    path = f"/threads/{first['thread_id']}/tree"
    tree = (await ada.http.get(path)).json()
    ids = [turn["turn_id"] for turn in (first, second, third)]
    assert [(turn["turn_id"], turn["parent_id"]) for turn in tree["turns"]] == [
        (ids[0], None),
        (ids[1], ids[0]),
        (ids[2], ids[0]),
    ]
    assert [turn["status"] for turn in tree["turns"]] == ["succeeded", "failed", "succeeded"]
    assert [line["head"] for line in tree["worldlines"]] == ids[1:]
    assert tree["next"] is None

    page = (await ada.http.get(path, params={"turns": 2})).json()
    assert [turn["turn_id"] for turn in page["turns"]] == ids[:2]
    rest = (await ada.http.get(path, params={"turns": 2, "after": page["next"]})).json()
    assert ([turn["turn_id"] for turn in rest["turns"]], rest["next"]) == (ids[2:], None)
    assert (await ada.http.get(path, params={"after": first["thread_id"]})).status_code == 404

    assert await sessions_of(ada, {"worldline_id": first["worldline_id"]}) == {ids[0]}
    assert await sessions_of(ada, {"worldline_id": third["worldline_id"]}) == {ids[0], ids[2]}
    assert await sessions_of(ada, {"thread_id": first["thread_id"]}) == {ids[0], ids[2]}
    assert await sessions_of(ada, {"worldline_id": first["thread_id"]}) == set()


TURNS = "labcrew_agent_turns_total"
RUNS = "labcrew_sandbox_runs_total"


def count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.usefixtures("worker")
async def test_turns_and_what_they_run_are_counted(ada: User, dataset: str) -> None:
    plan = '{"source": {"kind": "dataset", "table": "cities"}, "steps": []}'
    messages = {"sql": "SQL: select peple from cities", "plan": f"PLAN: {plan}", "python": "PYTHON: 1 / 0"}
    statuses = {"sql": "failed", "plan": "succeeded", "python": "failed"}
    run_statuses = {**statuses, "sql": "rejected"}
    before = {mode: count(TURNS, mode=mode, status=statuses[mode]) for mode in messages}
    runs = {
        mode: count(RUNS, provider="process", query_mode=mode, status=run_statuses[mode]) for mode in messages
    }
    for mode, message in messages.items():
        turn = await ask(ada, message, dataset_ids=[dataset])
        assert turn["status"] == statuses[mode], turn
        assert count(TURNS, mode=mode, status=statuses[mode]) == before[mode] + 1
        run_count = count(RUNS, provider="process", query_mode=mode, status=run_statuses[mode])
        assert (mode, run_count) == (mode, runs[mode] + 1)


async def sessions_of(user: User, query: dict[str, str]) -> set[str]:
    listed = await user.http.get("/artifacts", params=query)
    return {item["session_id"] for item in listed.json()["items"]}


async def test_a_turn_that_waits_for_another_is_waiting_in_the_tree(ada: User) -> None:
    first = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).json()
    body = {"message": "and then", "thread_id": first["thread_id"]}
    await ada.http.post("/chat", params={"wait": 0}, json=body)
    tree = (await ada.http.get(f"/threads/{first['thread_id']}/tree")).json()
    assert [turn["status"] for turn in tree["turns"]] == [first["status"], "waiting"]
