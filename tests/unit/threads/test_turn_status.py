"""The status of a turn, as its rows tell it."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.threads.queries import TurnRecord, make_turn_view

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = {
    "key": "3.which",
    "kind": "clarification",
    "agent": "data_analyst",
    "body": {"text": "Which column?", "options": ["price"], "default": None, "answer_schema": {}},
    "asked_at": NOW.isoformat(),
}


@pytest.mark.parametrize(
    ("status", "question", "shown"),
    [
        ("running", None, "running"),
        ("running", ASKED, "awaiting_user"),  # asked, and its step not released yet
        ("awaiting_user", ASKED, "awaiting_user"),
        ("cancelling", ASKED, "running"),
    ],
)
def test_a_turn_that_asks_waits_for_its_user(
    status: str, question: dict[str, object] | None, shown: str
) -> None:
    record = TurnRecord(
        id=UUID(int=1),
        thread_id=UUID(int=2),
        worldline_id=None,
        parent_id=None,
        mode="auto",
        message="How many?",
        status=status,
        created_at=NOW,
        started_at=NOW,
        ended_at=None,
        error=None,
        result=None,
        event_seq=2,
        dataset_ids=[],
        is_waiting=False,
        queue=None,
        question=json.dumps(question) if question else None,
        artifacts="[]",
    )

    assert make_turn_view(record).status == shown
