"""Questions to the user as rows. Each holds its own answer, so an answer cannot reach another question."""

import json
from dataclasses import dataclass
from typing import NamedTuple

from app.json_types import JsonValue
from app.sessions.events.events import ClarificationAnswered, ClarificationAsked
from app.sessions.events.serialization import dumps
from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import JOURNAL
from app.sessions.step_scope import Question


class AnswerRow(NamedTuple):
    """`answer`: JSON; None while the question is open."""

    answer: str | None
    is_answered: bool


@dataclass(frozen=True)
class QuestionState:
    """A question and its answer. `write`: the write that asked it, None if it was asked before."""

    answer: JsonValue
    is_answered: bool
    write: WriteResult | None = None


async def ask(writer: FencedWriter, seq: int, question: Question, take_default: bool) -> QuestionState:
    """Ask a question of step `seq` once. Raises LeaseLost.

    `take_default`: record its default as the answer at once, with an event that says so.
    """
    key = f"{seq}.{question.key}"
    # Read first: a step usually comes here again once the answer is there.
    if state := await _read_state(writer, key):
        return state
    asked_event = ClarificationAsked(
        question=key,
        question_kind=question.kind,
        agent=question.agent,
        text=question.text,
        options=list(question.options),
        default=question.default,
        answer_schema=dict(question.answer_schema),
        about=dict(question.about),
    )
    default_event = ClarificationAnswered(question=key, answer=question.default, by="default")
    write = await writer.write(
        make_fenced_statement(JOURNAL.insert_question),
        seq,
        [asked_event, default_event] if take_default else [asked_event],
        key,
        question.kind,
        question.agent,
        dumps(asked_event.model_dump(exclude={"kind", "question", "question_kind", "agent"}), "question"),
        dumps(question.default) if take_default else None,
        "default" if take_default else None,
    )
    if write is not None:
        return QuestionState(question.default if take_default else None, take_default, write)
    # Refused: either the row is there, written by a statement whose reply was lost, or the lease is lost.
    state = await _read_state(writer, key)
    if state is None:
        raise LeaseLost
    return state


async def _read_state(writer: FencedWriter, key: str) -> QuestionState | None:
    row = await writer.db.row(JOURNAL.find_answer, writer.lease.facts.id, key)
    if row is None:
        return None
    stored = AnswerRow(**row)
    return QuestionState(json.loads(stored.answer) if stored.answer else None, stored.is_answered)
