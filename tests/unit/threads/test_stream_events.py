"""Events of a turn as a conversation shows them: each word once, however late a stream begins."""

import json
from typing import Any

import pytest

from app.sessions.events.serialization import EventMessage
from app.threads.stream_events import TurnTranslation

PARTS = [(1, 0, "Once "), (1, 5, "upon "), (1, 0, "Once upon a "), (1, 12, "time"), (1, 0, "Once upon a time.")]
WHOLE = "Once upon a time. The end."


def token(answer: int, start: int, text: str) -> EventMessage:
    body = {"step": 1, "attempt": 1, "agent": "assistant", "answer": answer, "start": start, "text": text}
    return EventMessage(None, "token", json.dumps(body))


def message(text: str, role: str = "assistant") -> EventMessage:
    return EventMessage(7, "message", json.dumps({"role": role, "text": text}))


def told(*events: EventMessage) -> list[str]:
    translation = TurnTranslation("turn")
    sent: list[Any] = [json.loads(one.data) for event in events for one in translation.translate(event)]
    return [event["text"] for event in sent]


@pytest.mark.parametrize("missed", range(len(PARTS) + 1))
def test_words_add_up_to_the_answer_wherever_a_stream_begins(missed: int) -> None:
    seen = [token(*part) for part in PARTS[missed:]]
    assert "".join(told(*seen, message(WHOLE))) == WHOLE


@pytest.mark.parametrize("lost", range(len(PARTS)))
def test_a_lost_part_comes_with_a_later_one(lost: int) -> None:
    seen = [token(*part) for place, part in enumerate(PARTS) if place != lost]
    assert "".join(told(*seen, message(WHOLE))) == WHOLE


def test_another_answer_begins_anew() -> None:
    assert told(token(1, 0, "Look"), token(2, 0, "Look"), token(2, 4, " here")) == ["Look", "Look", " here"]
    assert told(token(1, 0, "Look"), message("Something else")) == ["Look"]


def test_an_event_from_before_the_assistant_had_its_name_still_has_its_words() -> None:
    assert told(message(WHOLE, "analyst")) == [WHOLE]
    assert told(message(WHOLE, "system")) == []


def test_a_turn_in_line_says_its_place() -> None:
    queued = EventMessage(None, "session_queued", json.dumps({"position": 2, "length": 3}))
    (event,) = TurnTranslation("turn").translate(queued)
    assert event.kind == "status"
    place = {"stage": "queued", "turn_id": "turn", "queue": {"position": 2, "length": 3}}
    assert json.loads(event.data) == {**place, "created_at": None}
