"""Conversations of a suite through the service, one message after the other."""

import time
from collections.abc import Mapping, Sequence

from app.cli.api_client.client import LabClient
from app.cli.api_client.received_events import QuestionEvent
from app.cli.scoring.conversations import ConversationItem, ConversationTurn, TurnOutcome, find_turn_misses
from app.cli.scoring.score_log import Score
from app.errors import LabError, Unauthorized, Unavailable


def run_conversation(
    client: LabClient, conversation: ConversationItem, dataset_ids: Sequence[str], digest: str
) -> Score:
    """Hold a conversation and judge each of its turns; it ends at a turn that is refused.

    Raises Unavailable or Unauthorized for a failure of the service.
    """
    began = time.monotonic()
    misses, thread = list[str](), ""
    for number, turn in enumerate(conversation.turns, 1):
        try:
            body = {"preferences": conversation.preferences, **_place(thread, dataset_ids)}
            outcome, thread = _hold_turn(client, turn, body)
        except (Unavailable, Unauthorized):
            raise
        except LabError as refusal:
            misses.append(f"{number}: refused, {refusal.detail}")
            break
        misses += [f"{number}: {miss}" for miss in find_turn_misses(turn.expect, outcome)]
    return Score(
        item=conversation.id,
        kind=conversation.kind,
        digest=digest,
        right=not misses,
        misses=misses,
        status="succeeded" if not misses else "failed",
        # Turns do not state their tokens; the sessions of their studies do, which are not summed up here.
        tokens=0,
        cost_usd=0.0,
        unpriced_calls=0,
        seconds=round(time.monotonic() - began, 2),
        session=thread,
        models=[],
    )


def _place(thread: str, dataset_ids: Sequence[str]) -> dict[str, object]:
    """The thread of a message, or the datasets of a new one."""
    return {"thread_id": thread} if thread else {"dataset_ids": [*dataset_ids]}


def _hold_turn(
    client: LabClient, turn: ConversationTurn, place: Mapping[str, object]
) -> tuple[TurnOutcome, str]:
    """Send a message and wait for its turn and its studies. Returns the outcome and the thread."""
    body = {**place, "message": turn.message, **({"mode": turn.mode} if turn.mode else {})}
    turn_id = ""
    for _, event in client.chat(body):
        turn_id = str(event.get("turn_id") or turn_id)
    view = client.turn(turn_id)
    questions = [question for study in view["studies"] if (question := _wait_for_study(client, study))]
    return TurnOutcome.read(view, questions), str(view["thread_id"])


def _wait_for_study(client: LabClient, study: str) -> str | None:
    """Wait until a study has ended or asks; returns its question."""
    for event in client.events(study):
        if isinstance(event, QuestionEvent):
            question = client.session(study).question
            if question is not None and question.key == event.question:
                return question.text
    return None
