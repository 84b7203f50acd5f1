"""Streams send what the OpenAPI document says that they send."""

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from fastapi import FastAPI

from app.sessions.events.events import MessagePosted
from app.sessions.events.serialization import dump_event, make_event_message
from app.sessions.events.watches import Frame, frame_text

from .conftest import User
from .test_prices import GOOD, HEADER, MORE, SAID, send
from .test_threads import TABLE, read_events

Json = dict[str, Any]


@pytest.fixture
async def dataset(ada: User) -> str:
    answer = await ada.http.post("/datasets", files={"file": ("cities.csv", TABLE)})
    return str(answer.json()["id"])


def content(app: FastAPI, path: str, media_type: str, method: str = "get") -> Json:
    """The schema of one item of a stream."""
    document = app.openapi()
    answer = document["paths"][f"/api/v1{path}"][method]["responses"]["200"]
    return {**answer["content"][media_type]["itemSchema"], "components": document["components"]}


def check_events(schema: Json, text: str) -> list[str]:
    """Validate each event of a stream and its data; return their kinds."""
    events = read_events(text)
    for event in events:
        sent = {"event": event["event"], "data": json.dumps(event["data"])}
        jsonschema.validate(sent, schema)
        item = next(
            item
            for item in schema.get("oneOf", [schema])
            if item["properties"]["event"].get("const", event["event"]) == event["event"]
        )
        data = item["properties"]["data"]["contentSchema"]
        jsonschema.validate(event["data"], {**data, "components": schema["components"]})
    return [event["event"] for event in events]


@pytest.mark.usefixtures("worker")
async def test_events_of_sessions_and_turns_are_as_documented(app: FastAPI, ada: User, dataset: str) -> None:
    body = {"message": "how many people are there by country?", "dataset_ids": [dataset]}
    chat = await ada.http.post("/chat/stream", json=body)
    kinds = check_events(content(app, "/chat/stream", "text/event-stream", "post"), chat.text)
    assert {"status", "tool_call", "tool_result", "token", "result", "done"} <= set(kinds)
    turn = read_events(chat.text)[0]["data"]["turn_id"]
    events = await ada.http.get(f"/lab/agent/sessions/{turn}/events")
    path = "/lab/agent/sessions/{session_id}/events"
    kinds = check_events(content(app, path, "text/event-stream"), events.text)
    assert {"session_started", "step_finished", "tool_returned", "session_finished"} <= set(kinds)


async def test_frames_are_as_documented(app: FastAPI) -> None:
    document = app.openapi()
    schema = {"$ref": "#/components/schemas/StreamFrame", "components": document["components"]}
    event = MessagePosted(step=1, role="planner", text="ready")
    message = make_event_message(3, datetime(2025, 1, 1, tzinfo=UTC), event.kind, dump_event(event))
    frames = [
        Frame("a", [message]),
        Frame("a", is_last=True),
        Frame("a", refusal="session_not_found"),
        Frame(None, lists=7),
    ]
    for frame in frames:
        jsonschema.validate(json.loads(frame_text(frame)), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"kind": "events", "watch": "a", "events": [{"kind": "message"}]}, schema)


async def test_lines_of_progress_are_as_documented(app: FastAPI, ada: User) -> None:
    schema = content(app, "/prices/import", "application/x-ndjson", "post")
    for table, last in ((HEADER + GOOD + MORE, "result"), ("a,b\n1,2\n", "problem")):
        lines = [json.loads(line) for line in (await send(ada, table, headers=SAID)).text.splitlines()]
        for line in lines:
            jsonschema.validate(line, schema)
        assert list(lines[-1]) == [last]
