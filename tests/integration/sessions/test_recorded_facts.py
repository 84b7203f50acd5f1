"""What a reporter reads back is what the journal wrote."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from app.db.pool import Database
from app.recorded_call import RecordedCall
from app.reporting.compose import build_draft, compose
from app.reporting.evidence import RecordedFact
from app.reporting.verification import verify_report
from app.sessions.in_memory import MemoryStep
from app.sessions.recorded_facts import DatabaseRecords
from app.sessions.step_scope import SessionFacts

OWNER, MINE, OTHER = uuid4(), uuid4(), uuid4()
FACTS = SessionFacts(MINE, OWNER, "goal", {}, (), 0, datetime(2026, 3, 14, tzinfo=UTC))


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = await Database.open(database_url)
    await db.rows("insert into users (id, email, password_hash, role) values ($1, 'a@b.c', 'x', 'user')", OWNER)
    for session in (MINE, OTHER):
        await db.rows(
            "insert into sessions (id, owner_id, goal, preferences, dataset_ids, seed)"
            " values ($1, $2, 'goal', '{}', '{}', 0)",
            session,
            OWNER,
        )
    yield db
    await db.close()


async def call(db: Database, session: UUID, seq: int, key: str, kind: str, result: object) -> None:
    await db.rows(
        "insert into calls (session_id, seq, key, kind, name, agent, request_digest, request, result, failed,"
        " fence, started_at, duration_ms)"
        " values ($1, $2, $3, $4, 'compare_models', 'model_evaluator', 'd', '{}', $5, false, 1, now(), 1.5)",
        session,
        seq,
        key,
        kind,
        json.dumps(result),
    )


async def test_tool_calls_come_in_their_order_with_their_node(db: Database) -> None:
    await db.rows(
        "insert into steps (session_id, seq, node, update, fence, started_at)"
        " values ($1, 1, 'model_evaluation', '{}', 1, now())",
        MINE,
    )
    await call(db, MINE, 2, "tool:1.0", "tool", {"z": 1, "a": [1.5, None]})
    await call(db, MINE, 1, "tool:1.0", "tool", {"b": "é"})
    await call(db, MINE, 1, "chat:1", "chat", {"content": "99"})
    await call(db, OTHER, 1, "tool:1.0", "tool", {"not": "mine"})

    calls = await DatabaseRecords(db, MINE).calls(MemoryStep(FACTS, seq=2, node="reporting"))

    assert [(c.seq, c.node, c.key, c.result) for c in calls] == [
        (1, "model_evaluation", "tool:1.0", {"b": "é"}),
        (2, "reporting", "tool:1.0", {"z": 1, "a": [1.5, None]}),
    ]
    assert calls[0].tool == "compare_models"


async def test_an_altered_row_of_the_journal_fails_the_report(db: Database) -> None:
    session = {"id": str(MINE), "goal": "Predict it.", "seed": 0}
    scores = [{"name": "Ridge", "score": 0.75, "std": 0.01}, {"name": "baseline", "score": 0.5, "std": 0.0}]
    compared = {
        "metric": "r2",
        "leaderboard": scores,
        "chosen": "Ridge",
        "best": "Ridge",
        "baseline": "baseline",
    }
    await call(db, MINE, 1, "tool:1.0", "tool", compared)
    records, step = DatabaseRecords(db, MINE), MemoryStep(FACTS, seq=2, node="reporting")
    own = RecordedCall(2, "reporting", "tool:1.0", "generate_summary", "reporter", {}, {"session": session})
    report = compose(
        build_draft([*await records.calls(step), own], RecordedFact(own, "/session", session))
    ).to_json()
    assert verify_report(report, [*await records.calls(step), own]).passes

    await db.rows("alter table calls disable trigger append_only")
    await db.rows(
        "update calls set result = replace(result::text, '0.75', '0.85')::json where session_id = $1", MINE
    )

    verdict = verify_report(report, [*await records.calls(step), own])
    assert [mismatch.problem for mismatch in verdict.mismatches] == ["It says 0.75; the journal says 0.85."]


async def test_questions_say_who_answered(db: Database) -> None:
    await db.rows(
        "insert into questions (session_id, key, kind, agent, body, answer, answered_by) values"
        " ($1, '1.tool:1.0', 'clarification', 'planner', $2, $3, 'user')",
        MINE,
        json.dumps({"text": "Which?", "default": "a"}),
        json.dumps("b"),
    )

    (question,) = await DatabaseRecords(db, MINE).questions()

    assert (question.text, question.default, question.answer, question.by) == ("Which?", "a", "b", "user")


async def test_artifacts_carry_their_call_and_meta(db: Database) -> None:
    await db.rows(
        "insert into artifacts (id, owner_id, session_id, seq, call_key, kind, name, media_type, digest,"
        " size_bytes, meta)"
        " values ($1, $2, $3, 4, 'tool:1.0', 'figure', 'roc.svg', 'image/svg+xml', 'ab', 3, $4)",
        uuid4(),
        OWNER,
        MINE,
        json.dumps({"title": "ROC"}),
    )

    (artifact,) = await DatabaseRecords(db, MINE).artifacts()

    assert (artifact.seq, artifact.call, artifact.name) == (4, "tool:1.0", "roc.svg")
    assert artifact.meta == {"title": "ROC"}
