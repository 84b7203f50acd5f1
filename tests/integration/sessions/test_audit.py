"""The audit holds everything that was done, and nothing of it can be changed."""

import json
from hashlib import sha256

import asyncpg
import pytest
from tests.integration.sessions.conftest import Lab

from app.sessions.queries import SessionReader
from app.worker.event_loop import WorkerServices


async def test_calls_questions_answers_and_ends_are_told_in_their_order(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, ask=True, budget={"tool_calls": 3})
    await duties.runner.advance(session_id)
    await lab.service.respond(lab.owner, session_id, None, "b")
    await duties.runner.advance(session_id)
    await lab.service.respond(lab.owner, session_id, None, 50)
    await duties.runner.advance(session_id)
    reader = SessionReader(lab.db, lab.owner)
    trail, total = await reader.audit(session_id, 100, 0)
    assert total == len(trail)
    told = [(row.actor, row.action) for row in trail if row.action not in ("step_committed", "budget_warning")]
    assert told == [
        ("system", "session_started"),
        *[("tester", "tool_called")] * 2,
        ("tester", "clarification_asked"),
        ("user", "clarification_answered"),
        ("tester", "tool_called"),
        ("tester", "budget_asked"),
        ("user", "budget_answered"),
        *[("tester", "tool_called")] * 5,
        ("system", "session_finished"),
    ]
    assert [row.detail["answer"] for row in trail if row.action.endswith("_answered")] == ["b", 50]
    called = next(row.detail for row in trail if row.action == "tool_called")
    assert called["arguments"] == {"number": 1}
    stored = await lab.db.row("select result::text as raw from calls where seq = 1 and key = 'tool:1'")
    assert stored
    assert called["result_digest"] == sha256(stored["raw"].encode()).hexdigest()
    pages = [await reader.audit(session_id, 4, offset) for offset in range(0, total, 4)]
    assert [row for page, _ in pages for row in page] == trail
    assert {counted for _, counted in pages} == {total}


@pytest.mark.parametrize("table", ["calls", "steps", "events", "audit"])
@pytest.mark.parametrize("change", ["delete from {table}", "update {table} set session_id = gen_random_uuid()"])
async def test_a_row_of_the_trail_cannot_be_changed(
    table: str, change: str, lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    await lab.service.respond(lab.owner, session_id, None, "b")
    with pytest.raises(asyncpg.RestrictViolationError, match=f"rows of {table} are only ever added"):
        await lab.db.rows(change.format(table=table))


async def test_an_answer_stays_what_it_was(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    await lab.service.respond(lab.owner, session_id, None, "b")
    with pytest.raises(asyncpg.RestrictViolationError):
        await lab.db.rows("update questions set answer = $1", json.dumps("a"))


async def test_a_session_that_is_deleted_takes_its_journal_with_it(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    await duties.runner.advance(session_id)
    await lab.db.rows("delete from sessions where id = $1", session_id)
    assert not await lab.db.rows("select 1 from calls union all select 1 from events")
