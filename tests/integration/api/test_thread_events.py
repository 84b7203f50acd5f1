"""The events of a conversation: turns of all branches, and studies, in one stream with one cursor."""

import asyncio
import json
from collections import defaultdict
from contextlib import aclosing
from typing import Any
from uuid import UUID

import jsonschema
import pytest
from fastapi import FastAPI
from tests.patience import hang_guard

from app.sessions.queries import SessionReader
from app.threads.thread_events import ThreadEvents, ThreadMessage, parse_cursor

from .conftest import User
from .test_stream_documents import content
from .test_threads import ask, dataset, read_events

__all__ = ["dataset"]
PATH = "/threads/{thread_id}/events"


def follow(app: FastAPI, user: User, thread: str, cursor: str = "") -> ThreadEvents:
    resources = app.state.resources
    check = SessionReader(resources.database, user.id).check_exists
    since = parse_cursor(cursor)
    return ThreadEvents(resources.database, user.id, UUID(thread), resources.watch.stream_batches, check, since)


async def collect(events: ThreadEvents, done: int, opened: asyncio.Event | None = None) -> list[ThreadMessage]:
    """Read a stream until so many turns were done. `opened`: set at its first event."""
    messages: list[ThreadMessage] = []
    async with hang_guard(), aclosing(events.stream()) as stream:
        async for batch in stream:
            messages += batch
            if opened:
                opened.set()
            if sum(message.kind == "done" for message in messages) >= done:
                break
    return messages


def last_cursor(messages: list[ThreadMessage]) -> str:
    return next(message.cursor for message in reversed(messages) if message.cursor)


def kinds_by_turn(messages: list[ThreadMessage]) -> dict[str, list[str]]:
    kinds = defaultdict[str, list[str]](list)
    for message in messages:
        body = json.loads(message.data)
        if message.kind not in ("thread", "study") and message.cursor:
            kinds[body["turn_id"]].append(message.kind)
    return dict(kinds)


@pytest.mark.usefixtures("worker")
async def test_turns_of_all_branches_come_and_none_is_lost_after_a_reconnect(
    app: FastAPI, ada: User, dataset: str
) -> None:
    first = await ask(ada, "SQL: select 1 as n", dataset_ids=[dataset])
    thread = first["thread_id"]
    opened = asyncio.Event()
    reading = asyncio.create_task(collect(follow(app, ada, thread), 2, opened))
    await opened.wait()
    second = await ask(ada, "SQL: select 2 as n", thread_id=thread)
    branch = {"thread_id": thread, "from_turn": first["turn_id"], "message": "SQL: select 3 as n"}
    third = (await ada.http.post("/worldlines", json=branch)).json()["head"]
    messages = await reading
    assert messages[0].kind == "thread"
    schema = content(app, PATH, "text/event-stream")
    for message in messages:
        check(schema, message)
    assert kinds_by_turn(messages).keys() == {second["turn_id"], third}

    missed = await ask(ada, "SQL: select 4 as n", thread_id=thread)
    again = await collect(follow(app, ada, thread, last_cursor(messages)), 1)
    kinds = kinds_by_turn(again)
    assert kinds.keys() == {missed["turn_id"]}
    assert (kinds[missed["turn_id"]][0], kinds[missed["turn_id"]][-1]) == ("status", "done")
    assert all(len(pair.split(":")) == 2 for pair in last_cursor(again).split(","))


@pytest.mark.usefixtures("worker")
async def test_a_stream_that_broke_off_within_a_turn_goes_on_there(
    app: FastAPI, ada: User, dataset: str
) -> None:
    first = await ask(ada, "SQL: select 1 as n", dataset_ids=[dataset])
    thread = first["thread_id"]
    opening = await collect(follow(app, ada, thread), 0)
    await ask(ada, "SQL: select 2 as n", thread_id=thread)
    whole = [m for m in await collect(follow(app, ada, thread, last_cursor(opening)), 1) if m.cursor]
    rest = await collect(follow(app, ada, thread, str(whole[1].cursor)), 1)
    assert [(m.kind, m.data) for m in rest if m.cursor][1:] == [(m.kind, m.data) for m in whole[2:]]


@pytest.mark.usefixtures("worker")
async def test_a_study_of_the_conversation_comes_with_its_events(app: FastAPI, ada: User, dataset: str) -> None:
    first = await ask(ada, "SQL: select 1 as n", dataset_ids=[dataset])
    opened = asyncio.Event()
    reading = asyncio.create_task(read_study(follow(app, ada, first["thread_id"]), opened))
    await opened.wait()
    turn = await ask(ada, "predict people", thread_id=first["thread_id"])
    [study] = turn["studies"]
    message = await reading
    body = json.loads(message.data)
    assert (body["session_id"], body["event"]["kind"]) == (study, "session_started")
    assert f"{study}:" in str(message.cursor)
    check(content(app, PATH, "text/event-stream"), message)


async def read_study(events: ThreadEvents, opened: asyncio.Event) -> ThreadMessage:
    async with hang_guard(), aclosing(events.stream()) as stream:
        async for batch in stream:
            opened.set()
            for message in batch:
                if message.kind == "study" and message.cursor:
                    return message
    raise AssertionError("the stream ended before the study")


async def test_a_stream_ends_with_its_conversation(app: FastAPI, ada: User, eve: User) -> None:
    first = (await ada.http.post("/chat", params={"wait": 0}, json={"message": "hello"})).json()
    path = PATH.format(thread_id=first["thread_id"])
    wrong = await ada.http.get(path, params={"since": "nonsense"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "bad_cursor")
    assert (await eve.http.get(path)).status_code == 404
    streaming = asyncio.create_task(ada.http.get(path))
    async with hang_guard():
        while True:
            if app.state.resources.watch._subscriptions:
                break
            await asyncio.sleep(0.005)
        await ada.http.delete(f"/threads/{first['thread_id']}")
        events = read_events((await streaming).text)
    assert events[0]["event"] == "thread"
    assert events[0]["data"]["turns"] == [first["turn_id"]]


def check(schema: dict[str, Any], message: ThreadMessage) -> None:
    item = next(item for item in schema["oneOf"] if item["properties"]["event"].get("const") == message.kind)
    data = item["properties"]["data"]["contentSchema"]
    jsonschema.validate(json.loads(message.data), {**data, "components": schema["components"]})
