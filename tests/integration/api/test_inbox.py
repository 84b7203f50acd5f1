"""One list of what waits for a user, whatever kind it is, and lists of what is about a dataset."""

from typing import Any
from uuid import uuid4

from fastapi import FastAPI

from .conftest import User
from .test_sessions import GOAL, SESSIONS, ask, create, end, sql
from .test_workflow_overviews import run, save
from .test_workflow_proposals import TABLE, path, propose  # noqa: F401 - a fixture


async def read_inbox(user: User, **params: Any) -> list[dict[str, Any]]:
    answer = await user.http.get("/inbox", params=params)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def wait_for_answer(app: FastAPI, session_id: str, text: str) -> None:
    await ask(app, session_id, "1.ask:1", text)
    await sql(app, "update sessions set status = 'awaiting_user' where id = $1::uuid", session_id)


async def test_all_that_waits_is_one_list(app: FastAPI, ada: User, eve: User, path: str) -> None:  # noqa: F811
    assert await read_inbox(ada) == []
    study = await create(ada)
    await wait_for_answer(app, study, "Which column?")
    turn = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).json()
    await wait_for_answer(app, turn["turn_id"], "Which table?")
    flights = await save(ada, "flights")
    begun = await run(ada, flights)
    await wait_for_answer(app, begun, "Send it?")
    proposal = await propose(ada, path, "use 3 instead of 10")

    items = await read_inbox(ada)
    assert [(item["kind"], item["id"], item["text"]) for item in items] == [
        ("study", study, "Which column?"),
        ("turn", turn["turn_id"], "Which table?"),
        ("run", begun, "Send it?"),
        ("proposal", proposal["id"], proposal["summary"]),
    ]
    places = [(item["title"], item["thread_id"], item["workflow_id"]) for item in items]
    workflow_id = path.rpartition("/")[2]
    assert places[0] == (GOAL["goal"], None, None)
    assert places[1][1:] == (turn["thread_id"], None)
    # The question may stand in another branch than the first.
    assert items[1]["worldline_id"] == turn["worldline_id"]
    assert [item["worldline_id"] for item in (items[0], *items[2:])] == [None, None, None]
    assert places[2:] == [("flights", None, flights), ("Prices", None, workflow_id)]
    assert await read_inbox(eve) == []
    page = (await ada.http.get("/inbox", params={"limit": 1, "offset": 1})).json()
    assert (page["total"], page["items"][0]["id"]) == (4, turn["turn_id"])
    assert (await ada.http.get("/inbox", params={"offset": 9})).json()["total"] == 4

    await end(app, study)
    await end(app, begun)
    assert (await ada.http.delete(f"/threads/{turn['thread_id']}")).is_success
    # A proposal for an earlier version cannot be accepted any more.
    await propose(ada, path, "use 5 instead of 10", save=True)
    assert await read_inbox(ada) == []


async def test_lists_are_of_one_dataset(ada: User) -> None:
    uploads = [await ada.http.post("/datasets", files={"file": (f"{n}.csv", TABLE)}) for n in "ab"]
    ids = [upload.json()["id"] for upload in uploads]
    for dataset_id in ids:
        goal = {**GOAL, "dataset_ids": [dataset_id]}
        assert (await ada.http.post(SESSIONS, json=goal)).status_code == 201
        message = {"message": "hello", "dataset_ids": [dataset_id]}
        assert (await ada.http.post("/chat", params={"wait": 0}, json=message)).is_success
    for listing in (SESSIONS, "/threads"):
        for dataset_id, count in ((ids[0], 1), (str(uuid4()), 0)):
            page = (await ada.http.get(listing, params={"dataset_id": dataset_id})).json()
            assert (page["total"], len(page["items"])) == (count, count), listing
        assert (await ada.http.get(listing)).json()["total"] == 2
    counted = await ada.http.get(f"{SESSIONS}/counts", params={"dataset_id": ids[1]})
    assert counted.json()["total"] == 1


async def test_a_graph_is_shown_by_its_name(ada: User) -> None:
    graph = (await ada.http.get("/graphs/workflow")).json()
    assert [node["title"] for node in graph["nodes"]] == ["Starting", "Running", "Finishing"]
    loops = [edge for edge in graph["edges"] if edge["loop"]]
    assert [(edge["source"], edge["target"], edge["conditional"]) for edge in loops] == [
        ("running", "running", True)
    ]
    missing = await ada.http.get("/graphs/none")
    assert (missing.status_code, missing.json()["code"]) == (404, "graph_not_found")
