"""Answers that turns pass on: a turn that is repeated after a crash answers no other question."""

import json
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI

from app.db.pool import Database
from app.errors import NotFound
from app.pipeline.fork_changes import RULES
from app.pipeline.fork_comparison import find_differences
from app.resources import Resources
from app.sessions.forks.comparison import SessionComparison
from app.sessions.forks.service import ForkService
from app.sessions.in_memory import MemoryStep
from app.sessions.schemas import WORKFLOW_GRAPH
from app.sessions.service import SessionService
from app.sessions.step_scope import SessionFacts
from app.threads.studies import StudyServices, ThreadStudies
from app.tools.finalization.holdout_outputs import OUTPUTS
from app.workflows.conversations.runs import ConversationRuns
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.service import WorkflowService

from .conftest import User
from .test_deletion import a_session, add
from .test_threads import ask
from .test_workflow_nodes import chain, read, save, upload

OPEN = "select key from questions where session_id = $1 and answered_at is null"


def a_turn(owner: UUID) -> SessionFacts:
    return SessionFacts(uuid4(), owner, "yes", {}, (), 1, datetime.now(UTC))


async def test_a_repeated_answer_to_a_study_leaves_its_next_question_open(app: FastAPI, ada: User) -> None:
    r: Resources = app.state.resources
    db: Database = r.database
    study = a_session(ada.id, ended=False)
    await add(app, study)
    sessions = SessionService(db, r.tail, r.send, r.settings.sessions)
    services = StudyServices(
        db,
        sessions,
        ForkService(db, r.send, r.settings.sessions, RULES),
        SessionComparison(db, r.computer, find_differences, OUTPUTS),
    )
    body = json.dumps(
        {"text": "Go on?", "options": ["yes"], "default": "yes", "answer_schema": {"enum": ["yes"]}}
    )

    async def pose(key: str) -> None:
        await db.rows(
            "insert into questions (session_id, key, kind, agent, body)"
            " values ($1, $2, 'clarification', 'data_analyst', $3)",
            study.id,
            key,
            body,
        )

    conversation = ThreadStudies(services, a_turn(ada.id))
    await pose("1.first")
    await conversation.answer(study.id, "1.first", "yes")
    assert await db.column(OPEN, study.id) == []
    await pose("2.second")
    card = await conversation.answer(study.id, "1.first", "yes")
    assert await db.column(OPEN, study.id) == ["2.second"]
    assert card.question is not None
    assert card.question.key == "2.second"
    with pytest.raises(NotFound):
        await conversation.answer(study.id, "3.third", "yes")


@pytest.mark.usefixtures("worker")
async def test_a_repeated_answer_to_a_run_leaves_its_next_question_open(app: FastAPI, ada: User) -> None:
    r: Resources = app.state.resources
    dataset = await upload(ada, "cities", "city,people\nWien,1900\n")
    gates = [{"id": id, "type": "approve", "config": {"text": f"Is {id} right?"}} for id in ("first", "second")]
    await save(ada, {**chain(read(dataset), *gates), "name": "Gated"})
    begun = await ask(ada, "run Gated now")
    run_id = UUID(begun["run"]["id"])
    (first,) = await r.database.column(OPEN, run_id)
    passed = await ask(ada, "yes", thread_id=begun["thread_id"])
    assert "Is second right?" in passed["text"], passed
    (second,) = await r.database.column(OPEN, run_id)
    assert second != first

    workflows, turn = WorkflowService(r.database, ada.id), a_turn(ada.id)
    sessions = SessionService(r.database, r.tail, r.send, r.settings.sessions, WORKFLOW_GRAPH)
    check = r.check_documents(ada.id)
    runs = ConversationRuns(turn, workflows, check, sessions, WorkflowRuns(r.database, ada.id))
    followed = await runs.answer(MemoryStep(turn), run_id, first, "approve")
    assert await r.database.column(OPEN, run_id) == [second]
    assert followed.card.question is not None
    assert followed.card.question.key == second
