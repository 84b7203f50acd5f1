import json
from datetime import UTC, datetime

import pytest

from app.sessions.events.events import MessagePosted, SessionStarted
from app.sessions.events.serialization import NotJson, dump_event, dumps, make_event_message, request_digest

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"bytes"])
def test_what_could_not_be_read_back_is_refused_by_name(value: object) -> None:
    with pytest.raises(NotJson, match="update of training"):
        dumps({"score": value}, "update of training")


def test_tuples_and_integer_keys_become_what_a_replay_would_return() -> None:
    assert json.loads(dumps({"pair": (1, 2), "by": {1: "one"}})) == {"pair": [1, 2], "by": {"1": "one"}}


@pytest.mark.parametrize("text", ["a\x00b", "half \ud83d pair", "\\u0000 as text", "plain", "😀"])
def test_text_that_postgres_cannot_hold_is_mended(text: str) -> None:
    raw = dumps({"text": text})
    stored = json.loads(raw)["text"]
    assert "\x00" not in stored
    stored.encode()
    if text in ("plain", "😀", "\\u0000 as text"):
        assert stored == text


def test_a_request_is_the_same_whatever_the_order_of_its_keys() -> None:
    assert request_digest({"a": 1, "b": 2}) == request_digest({"b": 2, "a": 1})
    assert request_digest({"a": 1}) != request_digest({"a": 1.5})


def test_a_durable_event_carries_its_cursor_and_a_live_one_none() -> None:
    body = dump_event(SessionStarted(goal="a goal"))
    assert json.loads(make_event_message(7, AT, "session_started", body).data) == {
        "seq": 7,
        "created_at": "2026-01-02T03:04:05+00:00",
        "kind": "session_started",
        "goal": "a goal",
    }
    assert "seq" not in json.loads(make_event_message(None, AT, "session_started", body).data)


def test_an_event_with_odd_text_can_still_be_stored() -> None:
    body = dump_event(MessagePosted(step=1, role="user", text="a\x00b \ud83d"))
    assert "\\u0000" not in body
    json.loads(body)["text"].encode()
