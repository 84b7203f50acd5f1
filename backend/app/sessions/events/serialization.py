"""Strict JSON for the journal, and the text form of events."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import PydanticSerializationError

from app.errors import LabError
from app.sessions.events.events import Durable, Live

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=None)
_SORTED = json.JSONEncoder(allow_nan=False, separators=(",", ":"), sort_keys=True)


class NotJson(LabError):
    """A value that JSON does not preserve: NaN, infinity, or a type that is not JSON."""


def dumps(value: Any, label: str = "value") -> str:
    """Encode strict JSON in ASCII. Raises NotJson, with `label` as the name of the value.

    Text that Postgres cannot hold (a NUL, half a surrogate pair) becomes U+FFFD.
    """
    try:
        raw = _ENCODER.encode(value)
        # True of whole pairs (an emoji) too, which the slow way leaves as they are.
        if "\\u0000" in raw or "\\ud" in raw:
            raw = _ENCODER.encode(_make_storable(value))
    except (TypeError, ValueError) as error:
        raise NotJson("not_json", f"The {label} is not JSON: {error}.") from error
    return raw


def request_digest(value: Any) -> str:
    """Return the SHA-256 of a request in hex, independent of the order of its keys."""
    return hashlib.sha256(_SORTED.encode(value).encode()).hexdigest()


def _make_storable(value: Any) -> Any:
    if isinstance(value, str):
        # UTF-16 joins two halves that stand side by side, and replaces one that stands alone.
        text = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text.replace("\x00", "\ufffd")
    if isinstance(value, dict):
        return {_make_storable(key): _make_storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_storable(item) for item in value]
    return value


@dataclass(frozen=True)
class EventMessage:
    """An event as a client receives it: `seq` is its cursor (None: live), `data` the event as JSON text."""

    seq: int | None
    kind: str
    data: str


def make_event_message(seq: int | None, created_at: datetime, kind: str, body: str) -> EventMessage:
    """Prepend the number and the time of an event to `body`, its JSON object."""
    head = f'"seq":{seq},' if seq is not None else ""
    # Spliced as text: the body is JSON already, and events are the most frequent messages.
    return EventMessage(seq, kind, f'{{{head}"created_at":"{created_at.isoformat()}",{body.lstrip()[1:]}')


def dump_event(event: Durable | Live) -> str:
    try:
        raw = event.model_dump_json()
    except PydanticSerializationError:  # half a surrogate pair
        raw = "\\ud"
    return dumps(event.model_dump()) if "\\u0000" in raw or "\\ud" in raw else raw
