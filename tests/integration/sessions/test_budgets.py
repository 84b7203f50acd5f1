"""A budget that is used up: the session asks, goes on with more, or ends with what there is."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.graph import NEVER_MS
from tests.integration.sessions.lab.rows import assert_numbered
from tests.patience import until

from app.worker.event_loop import WorkerServices


async def asked(lab: Lab, session_id: UUID) -> list[dict[str, Any]]:
    rows = await lab.db.rows("select key, kind, body, answered_by from questions order by asked_at")
    return [{**json.loads(row["body"]), **{k: row[k] for k in ("key", "kind", "answered_by")}} for row in rows]


async def warnings(lab: Lab, session_id: UUID) -> list[dict[str, Any]]:
    rows = await lab.db.rows("select body from events where kind = 'budget_warning' order by n")
    return [json.loads(row["body"]) for row in rows]


async def made(lab: Lab, kind: str) -> int:
    """Calls of a kind that had an effect."""
    rows = await lab.db.rows("select result from calls where kind = $1", kind)
    return sum("used_up" not in row["result"] for row in rows)


async def test_a_session_without_calls_left_waits_and_goes_on_with_more(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, budget={"tool_calls": 3})
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "awaiting_user"
    assert await made(lab, "tool") == 3
    [question] = await asked(lab, session_id)
    assert question["kind"] == "budget"
    assert "3 tool calls" in question["text"]
    await lab.redis.flushdb()
    await lab.service.respond(lab.owner, session_id, None, 100)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "completed", row["error"]
    assert await made(lab, "tool") == 8
    assert len(await asked(lab, session_id)) == 1
    assert [(one["budget"], one["used"], one["limit"]) for one in await warnings(lab, session_id)] == [
        ("tool_calls", 3, 3)
    ]
    await assert_numbered(lab.db, session_id)


async def test_a_session_that_is_to_report_makes_no_more_calls(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, budget={"tool_calls": 3})
    await duties.runner.advance(session_id)
    await lab.service.respond(lab.owner, session_id, None, "report")
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"
    assert await made(lab, "tool") == 3


async def test_a_session_that_never_asks_reports_with_what_there_is(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, budget={"tokens": 25}, chat_tokens=10, clarify="never")
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"
    assert await made(lab, "chat") == 3
    assert await made(lab, "tool") == 8
    [question] = await asked(lab, session_id)
    assert question["answered_by"] == "default"
    assert [one["used"] for one in await warnings(lab, session_id)] == [20]


async def test_nothing_is_asked_where_the_operator_allows_no_more(lab: Lab, duties: WorkerServices) -> None:
    object.__setattr__(duties.runner.config, "max_budget", {"tool_calls": 3})
    try:
        session_id = await lab.create(send=False, budget={"tool_calls": 3})
        await duties.runner.advance(session_id)
    finally:
        object.__setattr__(duties.runner.config, "max_budget", {})
    assert (await lab.session(session_id))["status"] == "completed"
    assert await made(lab, "tool") == 3
    [question] = await asked(lab, session_id)
    assert question["answered_by"] == "default"


_HOURS_OF_WAITING = """
update sessions set
  started_at = started_at - interval '2 hours', waiting_since = waiting_since - interval '2 hours'
"""
_AN_HOUR_OF_WORK = """
update sessions set started_at = started_at - interval '1 hour', deadline_at = deadline_at - interval '1 hour'
"""
"""What the database's clock would have made of the row of a session that waits for its user."""


async def test_seconds_of_waiting_are_not_those_of_work(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True, budget={"seconds": 3600})
    await duties.runner.advance(session_id)
    await lab.db.rows(_HOURS_OF_WAITING)
    await lab.answer(session_id)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "completed", row["error"]
    assert row["waited_s"] >= 7200
    assert len(await asked(lab, session_id)) == 1


async def test_more_seconds_move_the_time_limit(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True, budget={"seconds": 3600})
    await duties.runner.advance(session_id)
    await lab.db.rows(_AN_HOUR_OF_WORK)
    await lab.answer(session_id)
    await duties.runner.advance(session_id)
    before, first = await lab.session(session_id), await made(lab, "tool")
    assert before["status"] == "awaiting_user"
    assert (await asked(lab, session_id))[-1]["kind"] == "budget"
    await lab.service.respond(lab.owner, session_id, None, 3000)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "completed", row["error"]
    assert await made(lab, "tool") > first
    waited_s = row["waited_s"] - before["waited_s"]
    moved_s = (row["deadline_at"] - before["deadline_at"]).total_seconds() - waited_s
    assert moved_s == pytest.approx(3000, abs=0.01)


async def test_a_round_of_fits_ends_with_the_seconds(lab: Lab, duties: WorkerServices) -> None:
    """Its own deadline is `HANG_GUARD_S`."""
    session_id = await lab.create(send=False, budget={"seconds": 600}, fits=1, fit_ms=NEVER_MS)
    await duties.runner.advance(session_id)
    row = await lab.db.row("select deadline_at - now() < interval '600 seconds' as soon from rounds")
    assert row
    assert row["soon"]


@pytest.mark.parametrize("place", range(9, 31, 3))
async def test_a_worker_killed_around_the_question_asks_it_once(lab: Lab, place: int) -> None:
    lab.start_worker()
    session_id = await lab.create(seed=place, budget={"tool_calls": 3, "seconds": 3600})
    freeing = asyncio.create_task(_lapse_once_struck(lab, session_id))
    await lab.answer(session_id, 4)  # type: ignore[arg-type]  # a budget is answered with a number
    await lab.answer(session_id, "report")
    row = await lab.ended(session_id)
    freeing.cancel()
    assert row["status"] == "completed", row["error"]
    assert await made(lab, "tool") == 7
    assert len(await asked(lab, session_id)) == 2
    assert len(await warnings(lab, session_id)) == 2
    await assert_numbered(lab.db, session_id)


async def _lapse_once_struck(lab: Lab, session_id: UUID) -> None:
    await until((lab.folder / f"struck-{session_id}").exists)
    await lab.lapse()
