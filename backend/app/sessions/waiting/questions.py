"""Questions are rows, and so are their answers: a call finds its own answer and no other."""

import json
from dataclasses import dataclass

from app.json_types import JsonValue
from app.sessions.events.events import ClarificationAnswered, ClarificationAsked
from app.sessions.events.serialization import dumps
from app.sessions.fenced_writer import FencedWriter, WriteResult, make_fenced_statement
from app.sessions.lease import LeaseLost
from app.sessions.statements import JOURNAL
from app.sessions.step_scope import Question


@dataclass(frozen=True)
class QuestionState:
    """How a question stands. `told` is what the asking wrote, None when it was asked before."""

    answer: JsonValue
    is_answered: bool
    write: WriteResult | None = None


async def ask(hold: FencedWriter, seq: int, question: Question, take_default: bool) -> QuestionState:
    """Ask once; with `take_default` the default is its answer at once, and the events say so."""
    key = f"{seq}.{question.key}"
    found = await hold.db.row(JOURNAL.find_answer, hold.lease.facts.id, key)
    if found:
        return QuestionState(json.loads(found["answer"]) if found["answered"] else None, found["answered"])
    asked = ClarificationAsked(
        question=key,
        question_kind=question.kind,
        agent=question.agent,
        text=question.text,
        options=list(question.options),
        default=question.default,
        answer_schema=dict(question.answer_schema),
        about=dict(question.about),
    )
    answered = ClarificationAnswered(question=key, answer=question.default, by="default")
    told = await hold.write(
        make_fenced_statement(JOURNAL.insert_question),
        seq,
        [asked, answered] if take_default else [asked],
        key,
        question.kind,
        question.agent,
        dumps(asked.model_dump(exclude={"kind", "question", "question_kind", "agent"}), "question"),
        dumps(question.default) if take_default else None,
        "default" if take_default else None,
    )
    if told is None:
        return await _asked_before(hold, key)
    return QuestionState(question.default if take_default else None, take_default, told)


async def _asked_before(hold: FencedWriter, key: str) -> QuestionState:
    """Our own write whose reply was lost; else the lease is lost."""
    found = await hold.db.row(JOURNAL.find_answer, hold.lease.facts.id, key)
    if found is None:
        raise LeaseLost
    return QuestionState(json.loads(found["answer"]) if found["answered"] else None, found["answered"])
