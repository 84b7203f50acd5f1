"""Conversations over the real API, in real cells, answered by the offline assistant."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from .conftest import User

TABLE = b"city,country,people\nBern,CH,134000\nThun,CH,43500\nBiel,CH,55600\nGraz,AT,291000\n"


@pytest.fixture
async def dataset(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("cities.csv", TABLE)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def ask(user: User, message: str, **wanted: Any) -> dict[str, Any]:
    async with hang_guard():
        answer = await user.http.post("/chat", json={"message": message, **wanted})
    assert answer.status_code in (200, 202), answer.text
    turn: dict[str, Any] = answer.json()
    return turn


@pytest.mark.usefixtures("worker")
async def test_a_question_is_answered_in_words_with_its_table_sql_and_plan(ada: User, dataset: str) -> None:
    turn = await ask(ada, "total people by country", dataset_ids=[dataset])
    assert turn["status"] == "succeeded", turn
    assert turn["table"]["rows"] == [["AT", 291000], ["CH", 233100]]
    assert turn["plan"]["source"] == {"kind": "dataset", "table": "cities"}
    assert turn["sql"].startswith("SELECT")
    assert "total of `people`" in turn["text"]
    artifact = turn["table"]["artifact"]
    assert (await ada.http.get(f"/artifacts/{artifact}")).status_code == 200
    again = await ada.http.get(f"/turns/{turn['turn_id']}")
    assert again.json() == turn
    listed = (await ada.http.get("/threads")).json()
    assert [item["id"] for item in listed["items"]] == [turn["thread_id"]]
    messages = (await ada.http.get(f"/threads/{turn['thread_id']}/messages")).json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["turn"]["table"] == turn["table"]
    sessions = (await ada.http.get("/lab/agent/sessions")).json()
    assert sessions["items"] == []


@pytest.mark.usefixtures("worker")
async def test_direct_modes_run_code_as_it_stands(ada: User, dataset: str) -> None:
    turn = await ask(ada, "SQL: select count(*) as n from cities", dataset_ids=[dataset])
    assert (turn["mode"], turn["table"]["rows"]) == ("sql", [[4]])
    thread = {"thread_id": turn["thread_id"]}
    plan = {"source": {"kind": "dataset", "table": "cities"}, "steps": [{"kind": "limit", "rows": 2}]}
    turn = await ask(ada, f"plan: {json.dumps(plan)}", **thread)
    assert turn["table"]["row_count"] == 2
    turn = await ask(ada, "```python\nresult = int(cities['people'].max())\n```", mode="python", **thread)
    assert (turn["status"], turn["text"]) == ("succeeded", "291000")
    turn = await ask(ada, "SQL: select peple from cities", **thread)
    assert turn["status"] == "failed"
    assert "people" in turn["failure"]["message"]
    turn = await ask(ada, "PYTHON: print('so far')\n1 / 0", **thread)
    assert (turn["status"], turn["stdout"]) == ("failed", "so far\n")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"message": "SQL:  "}, "empty_code"),
        ({"message": "PLAN: {"}, "plan_invalid"),
        ({"message": "  "}, "invalid_request"),
        ({"message": "hello", "mode": "speech"}, "invalid_request"),
    ],
)
async def test_messages_that_cannot_be_read_make_no_turn(ada: User, body: dict[str, Any], code: str) -> None:
    refused = await ada.http.post("/chat", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert (await ada.http.get("/threads")).json()["items"] == []


@pytest.mark.usefixtures("worker")
async def test_messages_at_once_are_answered_one_after_the_other(ada: User, dataset: str) -> None:
    first = await ask(ada, "SQL: select 1 as n from cities", dataset_ids=[dataset])
    thread = {"thread_id": first["thread_id"]}
    turns = await asyncio.gather(*(ask(ada, f"SQL: select {n} as n from cities", **thread) for n in range(6)))
    assert {turn["status"] for turn in turns} == {"succeeded"}
    by_parent = {turn["parent_id"]: turn for turn in turns}
    place, ended_at = first, first["ended_at"]
    for _ in turns:
        place = by_parent[place["turn_id"]]
        assert place["started_at"] >= ended_at
        ended_at = place["ended_at"]
    listed = (await ada.http.get(f"/threads/{first['thread_id']}/messages", params={"turns": 3})).json()
    assert len(listed["messages"]) == 6
    rest = await ada.http.get(
        f"/threads/{first['thread_id']}/messages", params={"before": listed["next"], "turns": 50}
    )
    assert len(rest.json()["messages"]) == 8
    assert rest.json()["next"] is None


@pytest.mark.usefixtures("worker")
async def test_a_stream_shows_the_turn_and_goes_on_at_its_cursor(ada: User, dataset: str) -> None:
    body = {"message": "how many cities are there", "dataset_ids": [dataset]}
    headers = {"Idempotency-Key": "one"}
    streamed = await ada.http.post("/chat/stream", json=body, headers=headers)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    events = read_events(streamed.text)
    kinds = [event["event"] for event in events]
    assert kinds[0] == "status"
    assert kinds[-1] == "done"
    assert [kind for kind in kinds if kind != "status"] == [
        "tool_call",
        "table",
        "tool_result",
        "token",
        "result",
        "done",
    ]
    turn_id = events[0]["data"]["turn_id"]
    assert streamed.headers["location"].endswith(f"/turns/{turn_id}")
    repeated = await ada.http.post("/chat/stream", json=body, headers=headers)
    assert repeated.headers["location"] == streamed.headers["location"]
    other = await ada.http.post("/chat/stream", json=body | {"message": "other"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    cursors = [event["id"] for event in events if event["id"]]
    rest = await ada.http.get(f"/turns/{turn_id}/events", headers={"Last-Event-ID": cursors[0]})
    ids = [event["id"] for event in read_events(rest.text) if event["id"]]
    assert ids == cursors[1:]
    over = await ada.http.get(f"/turns/{turn_id}/events", headers={"Last-Event-ID": cursors[-1]})
    assert over.status_code == 204


def read_events(text: str) -> list[dict[str, Any]]:
    events = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in lines:
            events.append({"event": lines["event"], "id": lines.get("id"), "data": json.loads(lines["data"])})
    return events


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(
    "message",
    ["hello", "what can you do?", "send an email to all customers", "xyzzy blub", "tell me a joke"],
)
async def test_what_is_no_question_never_becomes_a_query(ada: User, dataset: str, message: str) -> None:
    turn = await ask(ada, message, dataset_ids=[dataset])
    assert turn["status"] == "succeeded"
    assert (turn["table"], turn["sql"]) == (None, None)
    assert turn["text"]


@pytest.mark.usefixtures("worker")
async def test_a_thread_is_changed_archived_and_deleted_as_a_whole(
    app: FastAPI, ada: User, eve: User, dataset: str
) -> None:
    turn = await ask(ada, "how many cities are there", dataset_ids=[dataset])
    path = f"/threads/{turn['thread_id']}"
    changed = await ada.http.patch(path, json={"title": "Cities", "archived": True})
    assert changed.json()["title"] == "Cities"
    assert (await ada.http.get("/threads")).json()["items"] == []
    found = (await ada.http.get("/threads", params={"archived": True, "search": "CITIES"})).json()["items"]
    assert [item["turns"] for item in found] == [1]
    assert (await eve.http.delete(path)).status_code == 404
    assert (await ada.http.delete(path)).status_code == 204
    for gone in (path, f"/turns/{turn['turn_id']}", f"{path}/messages"):
        assert (await ada.http.get(gone)).status_code == 404
    db = app.state.resources.database
    assert await db.value("select count(*) from sessions where id = $1", UUID(turn["turn_id"])) == 0
    assert await db.value("select count(*) from threads") == 0


@pytest.mark.usefixtures("worker")
async def test_statements_change_the_tables_of_the_conversation(ada: User, dataset: str) -> None:
    turn = await ask(ada, "SQL: update cities set people = 0 where country = 'CH'", dataset_ids=[dataset])
    assert turn["status"] == "succeeded", turn
    assert turn["text"].startswith("Changed 3 of 4 rows of cities.")
    assert (turn["table"], turn["changes"][0]["changed_rows"]) == (None, 3)
    thread = {"thread_id": turn["thread_id"]}
    failed = await ask(ada, "SQL: drop table cities; create table a as select 1 / 'x' as n", **thread)
    assert failed["status"] == "failed"
    turn = await ask(ada, "total people by country", **thread)
    assert turn["table"]["rows"] == [["AT", 291000], ["CH", 0]]
    swiss = f"create view swiss as from \"{dataset.upper()}\".cities where country = 'CH'"
    turn = await ask(ada, f"SQL: {swiss}", **thread)
    turn = await ask(ada, "PYTHON: keep['towns'] = swiss[['city']].assign(n=1.5)\nprint(len(swiss))", **thread)
    assert (turn["status"], turn["text"]) == ("succeeded", "3")
    plan = {"source": {"kind": "workspace", "table": "towns"}, "steps": [{"kind": "limit", "rows": 1}]}
    turn = await ask(ada, f"PLAN: {json.dumps(plan)}", **thread)
    assert turn["table"]["rows"] == [["Bern", 1.5]]
    workspace = (await ada.http.get(f"/worldlines/{turn['worldline_id']}/workspace")).json()
    assert [(t["name"], t["kind"], t["rows"], t["hides_dataset"]) for t in workspace["tables"]] == [
        ("cities", "table", 4, True),
        ("swiss", "view", 3, False),
        ("towns", "table", 3, False),
    ]
    file = await ada.http.get(f"/artifacts/{workspace['tables'][0]['artifact']}")
    assert file.headers["content-type"] == "application/vnd.apache.parquet"


@pytest.mark.usefixtures("worker")
async def test_a_branch_has_the_tables_of_the_turn_that_it_begins_after(ada: User, dataset: str) -> None:
    first = await ask(ada, "SQL: create table t as from cities", dataset_ids=[dataset])
    thread = {"thread_id": first["thread_id"]}
    second = await ask(ada, "SQL: update t set people = 1 where city = 'Bern'", **thread)
    body = {**thread, "from_turn": first["turn_id"], "message": "SQL: delete from t where country = 'AT'"}
    headers = {"Idempotency-Key": "branch"}
    created = await ada.http.post("/worldlines", json=body, headers=headers)
    branch = created.json()
    # What differs names it.
    assert (created.status_code, branch["name"]) == (201, body["message"]), created.text
    assert branch["from_turn"] == first["turn_id"]
    assert (await ada.http.post("/worldlines", json=body, headers=headers)).json() == branch
    long = await ada.http.post(
        "/worldlines", json={**body, "message": f"{body['message']} or country in ('CH', 'DE')"}
    )
    assert long.json()["name"] == "SQL: delete from t where country = 'AT' or country in ('CH',…"
    again = await ada.http.post("/worldlines", json=body)
    assert again.json()["name"] == f"{body['message']} 2"
    turn = await ask(ada, "SQL: select count(*) as n, min(people) as low from t", worldline_id=branch["id"])
    assert (turn["parent_id"], turn["table"]["rows"]) == (branch["head"], [[3, 43500]])
    assert (await ask(ada, "SQL: select min(people) as low from t", **thread))["table"]["rows"] == [[1]]
    path = f"/worldlines/{first['worldline_id']}/compare/{branch['id']}"
    compared = (await ada.http.get(path)).json()
    assert compared["common_turn"] == first["turn_id"]
    assert compared["turns_first"][0]["turn_id"] == second["turn_id"]
    (table,) = compared["tables"]
    assert (table["name"], table["first"]["rows"], table["second"]["rows"]) == ("t", 4, 3)
    assert sorted(table["only_first"]["rows"]) == [["Bern", "CH", 1], ["Graz", "AT", 291000]]
    assert table["only_second"]["rows"] == [["Bern", "CH", 134000]]
    before = {**thread, "from_turn": None, "name": "anew", "message": "SQL: select * from t"}
    anew = (await ada.http.post("/worldlines", json=before)).json()
    turn = await ask(ada, "SQL: select count(*) as n from cities", worldline_id=anew["id"])
    assert turn["table"]["rows"] == [[4]]
    assert (await ada.http.get(f"/turns/{anew['head']}")).json()["failure"]["code"] == "unknown_table"


async def test_branches_are_named_and_deleted(ada: User, dataset: str) -> None:
    chat = await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})
    turn = chat.json()
    place = {"thread_id": turn["thread_id"], "from_turn": turn["turn_id"]}
    branch = (await ada.http.post("/worldlines", json={**place, "name": "other"})).json()
    again = await ada.http.post("/worldlines", json={**place, "name": "other"})
    assert (again.status_code, again.json()["code"]) == (409, "worldline_name_taken")
    lost = await ada.http.post("/worldlines", json={**place, "from_turn": turn["thread_id"]})
    assert (lost.status_code, lost.json()["code"]) == (404, "turn_not_found")
    taken = await ada.http.patch(f"/worldlines/{branch['id']}", json={"name": "main"})
    assert (taken.status_code, taken.json()["code"]) == (409, "worldline_name_taken")
    renamed = await ada.http.patch(f"/worldlines/{branch['id']}", json={"name": "third"})
    assert renamed.json()["name"] == "third"
    listed = await ada.http.get("/worldlines", params={"thread_id": turn["thread_id"]})
    assert [item["name"] for item in listed.json()["items"]] == ["main", "third"]
    assert (await ada.http.delete(f"/worldlines/{turn['worldline_id']}")).status_code == 204
    only = await ada.http.delete(f"/worldlines/{branch['id']}")
    assert (only.status_code, only.json()["code"]) == (409, "only_worldline")
    assert (await ada.http.get(f"/turns/{turn['turn_id']}")).json()["worldline_id"] is None


@pytest.mark.usefixtures("worker")
async def test_a_column_is_made_and_drawn_in_one_message(ada: User, dataset: str) -> None:
    message = "create a column thousands = people / 1000, then show its distribution as a histogram"
    turn = await ask(ada, message, dataset_ids=[dataset])
    assert turn["status"] == "succeeded", turn
    assert turn["text"].startswith("Made the column thousands = people / 1000 in cities. cities is now a table")
    assert [change["name"] for change in turn["changes"]] == ["cities"]
    assert len(turn["charts"]) == 1
    turn = await ask(ada, "mean thousands by country", thread_id=turn["thread_id"])
    assert [row[0] for row in turn["table"]["rows"]] == ["AT", "CH"], turn
    assert [row[1] for row in turn["table"]["rows"]] == pytest.approx([291, 77.7])


async def test_of_two_deletions_at_once_one_leaves_the_last_worldline(
    app: FastAPI, ada: User, dataset: str
) -> None:
    chat = await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})
    turn = chat.json()
    place = {"thread_id": turn["thread_id"], "from_turn": turn["turn_id"]}
    branch = (await ada.http.post("/worldlines", json=place)).json()
    db = app.state.resources.database
    waiting = "select count(*) from pg_locks where not granted"
    async with db.dedicated_connection() as connection, hang_guard():
        async with connection.transaction():
            await connection.execute("select from threads where id = $1 for update", UUID(turn["thread_id"]))
            deletions = [
                asyncio.create_task(ada.http.delete(f"/worldlines/{worldline}"))
                for worldline in (turn["worldline_id"], branch["id"])
            ]
            while True:
                if await db.value(waiting) >= 2:
                    break
                await asyncio.sleep(0.005)
        answers = await asyncio.gather(*deletions)
    assert sorted(answer.status_code for answer in answers) == [204, 409]


@pytest.mark.usefixtures("worker")
async def test_a_table_that_a_conversation_made_comes_before_the_one_that_it_copies(
    ada: User, dataset: str
) -> None:
    made = "SQL: create table towns as select * from cities where country = 'CH'"
    turn = await ask(ada, made, dataset_ids=[dataset])
    thread = {"thread_id": turn["thread_id"]}
    assert (await ask(ada, "total people", **thread))["table"]["rows"] == [[233100]]
    assert (await ask(ada, "total people in cities", **thread))["table"]["rows"] == [[524100]]
    await ask(
        ada, "SQL: create table sums as select country, sum(people) as people from cities group by 1", **thread
    )
    turn = await ask(ada, "people by country", **thread)
    assert turn["table"]["rows"] == [["AT", 291_000], ["CH", 233_100]]
