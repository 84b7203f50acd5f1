"""Schemas of streams in the OpenAPI document: the events, frames and lines that a response consists of."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter

from app.sessions.events.events import Event
from app.sessions.events.frames import StreamFrame
from app.threads.stream_schemas import CHAT_EVENTS, THREAD_EVENTS

EVENTS = "text/event-stream"
LINES = "application/x-ndjson"
REFERENCE = "#/components/schemas/{model}"

Schema = dict[str, Any]


class ProgressLine(BaseModel):
    """Progress of the work. `progress`: from 0 to 1."""

    progress: float
    text: str


class ProblemLine(BaseModel):
    """The end of work that failed. `problem`: a problem document (RFC 9457)."""

    problem: dict[str, Any]


_STREAMED: Mapping[str, TypeAdapter[Any]] = {
    "SessionEvent": TypeAdapter(Event),
    "StreamFrame": TypeAdapter(StreamFrame),
    "ProgressLine": TypeAdapter(ProgressLine),
    "ProblemLine": TypeAdapter(ProblemLine),
    **{model.__name__: TypeAdapter(model) for model in THREAD_EVENTS.values()},
}


def _refer(name: str) -> Schema:
    return {"$ref": REFERENCE.format(model=name)}


def _item(kind: Schema, data: str, *, numbered: bool) -> Schema:
    """Describe one server-sent event by its fields, as FastAPI does for streams of its own."""
    fields: Schema = {
        "event": {"type": "string", **kind},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": _refer(data)},
    }
    if numbered:
        fields["id"] = {"type": "string", "description": "Cursor for reconnecting; live events have none."}
    return {"type": "object", "properties": fields, "required": ["event", "data"]}


def session_events() -> Schema:
    """Return the content of a response that streams the events of a session."""
    kind = {"description": "The `kind` of the event."}
    return {EVENTS: {"itemSchema": _item(kind, "SessionEvent", numbered=True)}}


def stream_frames() -> Schema:
    """Return the content of a response that streams frames of many sessions."""
    return {EVENTS: {"itemSchema": _item({"const": "frame"}, "StreamFrame", numbered=False)}}


def chat_events() -> Schema:
    """Return the content of a response that streams the events of a turn."""
    return _describe_events(CHAT_EVENTS)


def thread_events() -> Schema:
    """Return the content of a response that streams the events of a thread."""
    return _describe_events(THREAD_EVENTS)


def _describe_events(models: Mapping[str, type[BaseModel]]) -> Schema:
    items = [_item({"const": kind}, model.__name__, numbered=True) for kind, model in models.items()]
    return {EVENTS: {"itemSchema": {"oneOf": items}}}


def progress_lines(result: type[BaseModel]) -> Schema:
    """Return the content of a response that ends with `{"result": ...}` after lines of progress."""
    line = {"type": "object", "properties": {"result": _refer(result.__name__)}, "required": ["result"]}
    return {LINES: {"itemSchema": {"anyOf": [_refer("ProgressLine"), line, _refer("ProblemLine")]}}}


def add_streamed_schemas(document: Schema) -> None:
    """Add the schemas that streams refer to by name."""
    for name, adapter in _STREAMED.items():
        add_schema(document, name, adapter.json_schema(ref_template=REFERENCE))


def add_schema(document: Schema, name: str, schema: Schema) -> None:
    """Add a schema and those that it refers to, in the place where FastAPI puts its own."""
    schemas: Schema = document.setdefault("components", {}).setdefault("schemas", {})
    definitions: Iterable[tuple[str, Schema]] = schema.pop("$defs", {}).items()
    for part, definition in definitions:
        schemas.setdefault(part, definition)
    schemas[name] = schema
