"""Messages that come with others, with changes of their conversation, or again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.auth.stream_slots import StreamLimit
from app.db.pool import Database
from app.sessions.events.publisher import channel_name
from app.threads.service import MAX_OPEN_TURNS
from app.worker.event_loop import WorkerServices

from .conftest import User
from .test_chat_files import answer
from .test_threads import read_events
from .test_workflow_nodes import chain, read, save, upload

TABLE = "city,people\nWien,1900\n"
ADMITTED = "select id from sessions where ended_at is null and admitted_at is not null"


async def post(user: User, **body: Any) -> httpx.Response:
    return await user.http.post("/chat", params={"wait": 0}, json={"message": "hello", **body})


@asynccontextmanager
async def concurrent(db: Database, change: str, *args: Any) -> AsyncIterator[None]:
    """Hold a change back, uncommitted, until a statement of the block waits for it."""
    async with db.dedicated_connection() as connection, hang_guard(), connection.transaction():
        await connection.execute(change, *args)
        yield
        while True:
            if await db.value("select count(*) from pg_locks where not granted"):
                break
            await asyncio.sleep(0.005)


async def test_a_stream_that_is_refused_leaves_no_turn(app: FastAPI, ada: User) -> None:
    db: Database = app.state.resources.database
    await db.rows("""update users set quotas = '{"sockets": 1}' where id = $1""", ada.id)
    await app.state.auth_services.revocations.announce(ada.id)
    limit = StreamLimit("streams of this user", str(ada.id), 1)
    async with app.state.auth_services.stream_slots.hold([limit]):
        refused = await ada.http.post("/chat/stream", json={"message": "hello"})
    assert refused.status_code == 429, refused.text
    assert await db.value("select count(*) from turns") == 0


async def test_a_conversation_goes_on_without_a_deleted_dataset(ada: User) -> None:
    first, second = [await upload(ada, name, TABLE) for name in ("first", "second")]
    begun = (await post(ada, dataset_ids=[first, second])).json()
    assert (await ada.http.delete(f"/datasets/{first}")).status_code == 204
    thread = {"thread_id": begun["thread_id"]}
    turn = await post(ada, **thread)
    assert turn.status_code == 202, turn.text
    assert turn.json()["dataset_ids"] == [second]
    assert (await ada.http.get(f"/threads/{begun['thread_id']}")).json()["dataset_ids"] == [second]
    refused = await post(ada, **thread, dataset_ids=[first])
    assert (refused.status_code, refused.json()["code"]) == (404, "dataset_not_found")


async def test_a_message_keeps_a_change_of_the_datasets_at_the_same_time(app: FastAPI, ada: User) -> None:
    first, second = [await upload(ada, name, TABLE) for name in ("first", "second")]
    begun = (await post(ada, dataset_ids=[first])).json()
    thread = {"thread_id": begun["thread_id"]}
    change = "update threads set dataset_ids = $1"
    async with concurrent(app.state.resources.database, change, [UUID(second)]):
        posted = asyncio.create_task(post(ada, **thread))
    turn = await posted
    assert turn.json()["dataset_ids"] == [second], turn.text
    assert (await ada.http.get(f"/threads/{begun['thread_id']}")).json()["dataset_ids"] == [second]


async def test_of_two_renames_to_a_name_at_once_the_second_is_refused(app: FastAPI, ada: User) -> None:
    begun = (await post(ada)).json()
    place = {"thread_id": begun["thread_id"], "from_turn": begun["turn_id"]}
    branch = (await ada.http.post("/worldlines", json=place)).json()
    change = "update worldlines set name = 'third' where id = $1"
    async with concurrent(app.state.resources.database, change, UUID(branch["id"])):
        path = f"/worldlines/{begun['worldline_id']}"
        renamed = asyncio.create_task(ada.http.patch(path, json={"name": "third"}))
    refused = await renamed
    assert (refused.status_code, refused.json()["code"]) == (409, "worldline_name_taken")


async def test_messages_are_those_before_a_turn_of_the_same_conversation(ada: User) -> None:
    first, second = [(await post(ada)).json() for _ in range(2)]
    path = f"/threads/{first['thread_id']}/messages"
    assert (await ada.http.get(path, params={"before": first["turn_id"]})).status_code == 200
    refused = await ada.http.get(path, params={"before": second["turn_id"]})
    assert (refused.status_code, refused.json()["code"]) == (404, "turn_not_found")


async def test_who_has_too_many_turns_is_told_how_to_cancel_one(app: FastAPI, ada: User) -> None:
    begun = (await post(ada)).json()
    await app.state.resources.database.rows(
        "insert into sessions (id, owner_id, graph, class, goal, preferences, dataset_ids, seed)"
        " select gen_random_uuid(), $1, 'chat', 'turn', 'hello', '{}', '{}', 1 from generate_series(2, $2)",
        ada.id,
        MAX_OPEN_TURNS,
    )
    refused = await post(ada)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")
    assert "DELETE /lab/agent/sessions/{turn_id}" in refused.json()["detail"]
    assert (await ada.http.delete(f"/lab/agent/sessions/{begun['turn_id']}")).status_code == 202


async def test_a_message_beyond_the_places_says_its_place_in_line_until_it_runs(
    app: FastAPI, services: WorkerServices, ada: User
) -> None:
    db: Database = app.state.resources.database
    running = [(await post(ada)).json() for _ in range(4)]
    waiting = (await post(ada)).json()
    assert [turn["queue"] for turn in (*running, waiting)] == [*[None] * 4, {"position": 1, "length": 1}]
    assert waiting["status"] == "queued"
    usage = (await ada.http.get("/auth/me/usage")).json()
    assert (usage["running_turns"], usage["max_running_turns"]) == (4, 4)
    request = {"json": {"message": "hello"}, "headers": {"Idempotency-Key": "one"}}
    last = (await ada.http.post("/chat", params={"wait": 0}, **request)).json()
    stream = asyncio.create_task(ada.http.post("/chat/stream", **request))
    async with hang_guard():
        channel, redis = channel_name(UUID(last["turn_id"])), app.state.resources.redis
        # Its first event is made before it subscribes to the others, and nothing runs before that.
        while (await redis.pubsub_numsub(channel))[0][1] == 0:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        while not stream.done():
            for turn in await db.column(ADMITTED):
                await services.runner.advance(turn)
            await asyncio.sleep(0.005)
    events = read_events((await stream).text)
    assert [event["event"] for event in (events[0], events[-1])] == ["status", "done"]
    assert events[0]["data"]["queue"] == {"position": 2, "length": 2}
    ended = [await ada.http.get(f"/turns/{turn['turn_id']}") for turn in (*running, waiting)]
    assert {turn.json()["status"] for turn in ended} == {"succeeded"}


async def test_a_waiting_message_can_be_cancelled(app: FastAPI, services: WorkerServices, ada: User) -> None:
    for _ in range(4):
        await post(ada)
    waiting = (await post(ada)).json()
    cancelled = await ada.http.delete(f"/lab/agent/sessions/{waiting['turn_id']}")
    assert cancelled.status_code == 202, cancelled.text
    await services.runner.advance(UUID(waiting["turn_id"]))
    turn = (await ada.http.get(f"/turns/{waiting['turn_id']}")).json()
    assert (turn["status"], turn["started_at"] is not None, turn["queue"]) == ("cancelled", True, None)


@pytest.mark.usefixtures("worker")
async def test_a_repeated_message_is_answered_with_its_turn_that_asked_and_has_ended(ada: User) -> None:
    dataset = await upload(ada, "cities", TABLE)
    for name in ("Weekly report", "Weekly churn report"):
        await save(ada, {**chain(read(dataset)), "name": name})
    request = {"json": {"message": "run my weekly workflow"}, "headers": {"Idempotency-Key": "one"}}
    asked = await ada.http.post("/chat", **request)
    assert (asked.status_code, asked.json()["status"]) == (202, "awaiting_user"), asked.text
    ended = await answer(ada, asked.json(), "Weekly churn report")
    repeated = await ada.http.post("/chat", **request)
    assert (repeated.status_code, repeated.json()) == (200, ended)


async def until(user: User, address: str, status: str) -> dict[str, Any]:
    while (turn := (await user.http.get(address)).json())["status"] != status:  # noqa: ASYNC110 - a worker sets it
        await asyncio.sleep(0.005)
    return dict(turn)


@pytest.mark.usefixtures("worker")
async def test_an_interrupted_turn_ends_and_the_next_message_begins(ada: User, eve: User) -> None:
    endless = (await post(ada, message="PYTHON: while True: pass")).json()
    address = f"/turns/{endless['turn_id']}"
    thread = {"thread_id": endless["thread_id"]}
    later = (await post(ada, message="PYTHON: print(6 * 7)", **thread)).json()
    async with hang_guard():
        await until(ada, address, "running")
        assert (await eve.http.post(f"{address}/interrupt")).status_code == 404
        stopped = await ada.http.post(f"{address}/interrupt")
        assert (stopped.status_code, stopped.json()["turn_id"]) == (202, endless["turn_id"])
        events = await ada.http.get(f"{address}/events")
        following = await until(ada, f"/turns/{later['turn_id']}", "succeeded")
    assert read_events(events.text)[-1]["data"]["status"] == "cancelled"
    assert (await ada.http.get(address)).json()["status"] == "cancelled"
    assert following["stdout"].strip() == "42"
    again = await ada.http.post(f"{address}/interrupt")
    assert (again.status_code, again.json()["code"]) == (409, "session_ended")
