"""Two versions on one database: a session ends with its own, with one that takes it over, or in words."""

import json

from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.rows import assert_all_once, effects

from app.sessions.workers import count_stranded


async def test_a_session_of_the_old_version_ends_with_the_old_worker_beside_a_new_one(lab: Lab) -> None:
    old = lab.start_worker(LAB_SLICE_S="0.02")
    first = await lab.create(ask=True, fits=2, step_ms=5)
    await lab.wait_for_row("select from questions where session_id = $1", first)
    lab.start_worker(LAB_VERSION="2", LAB_SLICE_S="0.02")
    await lab.wait_for_row("select from workers where graphs -> 'lab' = '[2]'")
    await lab.answer(first)
    row = await lab.ended(first)
    assert (row["status"], row["graph_version"]) == ("completed", 1)
    await old.end()
    second = await lab.create()
    assert (await lab.ended(second))["graph_version"] == 2


async def test_a_session_of_the_old_version_ends_with_a_new_worker_that_takes_it_over(lab: Lab) -> None:
    old = lab.start_worker()
    like = await _undisturbed(lab)
    begun = await lab.create(ask=True, fits=2)
    await lab.wait_for_row("select from questions where session_id = $1", begun)
    await old.end()
    lab.start_worker(LAB_VERSION="2,1")
    await lab.answer(begun)
    row = await lab.ended(begun)
    assert row["graph_version"] == 1
    await assert_all_once(lab.db, begun, like)


async def test_a_session_whose_version_nobody_runs_is_seen_waiting_and_then_ends_in_words(lab: Lab) -> None:
    old = lab.start_worker()
    begun = await lab.create(ask=True)
    await lab.wait_for_row("select from questions where session_id = $1", begun)
    await old.end()
    newer = lab.start_worker(LAB_VERSION="2")
    await lab.answer(begun)
    await lab.until(begun, lambda row: row["stranded_at"] is not None)
    assert await count_stranded(lab.db) == {"lab 1": 1}
    await newer.end()
    lab.start_worker(LAB_VERSION="3", LAB_STRANDED_S="0.1")
    error = json.loads((await lab.ended(begun))["error"])
    assert error["code"] == "graph_version"
    assert "version 1" in error["detail"]


async def _undisturbed(lab: Lab) -> dict[str, object]:
    session_id = await lab.create(ask=True, fits=2)
    await lab.answer(session_id)
    await lab.ended(session_id)
    return await effects(lab.db, session_id)
