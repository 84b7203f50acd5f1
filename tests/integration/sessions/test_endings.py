"""Cancel, time limits, deadlines, versions and failures: every session ends, and says why."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.graph import NEVER_MS
from tests.integration.sessions.lab.rows import assert_numbered
from tests.patience import HANG_GUARD_S, hang_guard

from app.db.pool import Database, Record
from app.sessions.lease_renewal import Rechecks
from app.sessions.statements import ROUNDS
from app.sessions.waiting.fits import FitKey
from app.worker.event_loop import WorkerServices


class CancellingDatabase(Database):
    """Cancels the session of a fit after the fit was claimed and before the claim is answered."""

    def __init__(self, lab: Lab, rechecks: Rechecks) -> None:
        super().__init__(lab.db.pool, patience_s=0.0, dsn="")
        self._lab = lab
        self._rechecks = rechecks
        self.has_cancelled = False

    async def row(self, sql: str, *args: Any) -> Record | None:
        row = await super().row(sql, *args)
        if sql == ROUNDS.claim:
            await self._lab.service.cancel(self._lab.owner, args[0])
            self._rechecks.announce(args[0])
            self.has_cancelled = True
        return row


async def test_a_cancel_during_fits_ends_the_session(lab: Lab) -> None:
    """At once: no clock of the worker, whose leases are not renewed within this test, has to come round."""
    lab.start_worker(LAB_RENEW_S="3600")
    session_id = await lab.create(fits=3, fit_ms=NEVER_MS)
    await lab.wait_for_row("select 1 from fits where status = 'running' limit 1")
    await lab.service.cancel(lab.owner, session_id)
    row = await lab.ended(session_id)
    assert row["status"] == "cancelled"
    await assert_numbered(lab.db, session_id)
    assert not await lab.db.rows("select 1 from fits where status in ('queued', 'running')")


async def test_a_cancel_during_a_step_stops_the_step(lab: Lab) -> None:
    lab.start_worker(LAB_RENEW_S="3600")
    session_id = await lab.create(step_ms=NEVER_MS)
    await lab.until(session_id, lambda row: row["status"] == "running")
    await lab.service.cancel(lab.owner, session_id)
    assert (await lab.ended(session_id))["status"] == "cancelled"


async def test_a_cancel_that_is_announced_during_the_claim_stops_what_was_claimed(
    lab: Lab, duties: WorkerServices
) -> None:
    """The announcement may overtake the answer of the database to the claim. No renewal comes round here."""
    session_id = await lab.create(send=False, fits=1, fit_ms=NEVER_MS)
    await duties.runner.advance(session_id)
    database = CancellingDatabase(lab, duties.fits.rechecks)
    without_renewals = replace(duties.config, renew_s=4 * HANG_GUARD_S, lease_s=8 * HANG_GUARD_S)
    async with hang_guard():
        await replace(duties.fits, db=database, config=without_renewals).run(FitKey(session_id, "4.round", 0))
    assert database.has_cancelled
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "cancelled"


async def test_a_cancel_is_seen_without_redis(lab: Lab, duties: WorkerServices) -> None:
    """The row is what counts; the message only saves waiting for the next renewal."""
    session_id = await lab.create(send=False, step_ms=NEVER_MS)
    drive = asyncio.create_task(duties.runner.advance(session_id))
    await lab.until(session_id, lambda row: row["status"] == "running")
    await lab.db.rows("update sessions set cancel = true, wake = wake + 1 where id = $1", session_id)
    await drive
    assert (await lab.session(session_id))["status"] == "cancelled"


async def test_cancelled_is_not_said_while_a_fit_runs(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, fits=1, fit_ms=NEVER_MS)
    await duties.runner.advance(session_id)
    fit = asyncio.create_task(duties.fits.run(FitKey(session_id, "4.round", 0)))
    await lab.wait_for_row("select 1 from fits where status = 'running'")
    await lab.service.cancel(lab.owner, session_id)
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "cancelling"
    await fit
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "cancelled"


async def test_a_cancelled_session_whose_fit_worker_died_still_ends(lab: Lab) -> None:
    worker = lab.start_worker()
    session_id = await lab.create(fits=1, fit_ms=NEVER_MS)
    await lab.wait_for_row("select 1 from fits where status = 'running'")
    worker.kill()
    await lab.lapse()
    await lab.service.cancel(lab.owner, session_id)
    assert (await lab.ended(session_id))["status"] == "cancelled"


async def test_a_session_that_waits_for_its_user_can_be_cancelled(lab: Lab) -> None:
    lab.start_worker()
    session_id = await lab.create(ask=True)
    await lab.until(session_id, lambda row: row["status"] == "awaiting_user")
    await lab.service.cancel(lab.owner, session_id)
    assert (await lab.ended(session_id))["status"] == "cancelled"


async def test_a_session_past_its_time_limit_fails_and_says_so(lab: Lab) -> None:
    lab.start_worker()
    session_id = await lab.create(fits=1, fit_ms=NEVER_MS)
    await lab.wait_for_row("select 1 from fits where status = 'running'")
    await lab.db.rows("update sessions set deadline_at = now() where id = $1", session_id)
    row = await lab.ended(session_id)
    assert (row["status"], json.loads(row["error"])["code"]) == ("failed", "time_limit")


async def test_time_spent_waiting_for_the_user_does_not_count(lab: Lab) -> None:
    lab.start_worker()
    session_id = await lab.create(ask=True)
    row = await lab.until(session_id, lambda row: row["status"] == "awaiting_user")
    waited = "update sessions set waiting_since = now() - interval '2 hours', deadline_at = now() where id = $1"
    await lab.db.rows(waited, session_id)
    await asyncio.sleep(0.5)  # clock: several sweeps pass over it; fewer are no fault
    assert (await lab.session(session_id))["status"] == "awaiting_user"
    await lab.answer(session_id)
    row = await lab.ended(session_id)
    assert row["status"] == "completed"


async def test_a_fit_that_misses_the_deadline_is_left_out(lab: Lab) -> None:
    lab.start_worker()
    session_id = await lab.create(fits=2, fit_ms=NEVER_MS, fit_deadline_s=0.5)
    row = await lab.ended(session_id)
    assert row["status"] == "completed", row["error"]
    assert json.loads(row["result"])["scores"] == [["c0", "left_out", None], ["c1", "left_out", None]]


async def test_a_node_that_raises_fails_the_session_in_words(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, poison="retrieval")
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "failed"
    assert json.loads(row["error"]) == {
        "code": "step_failed",
        "detail": "Step 3 failed: ZeroDivisionError: poisoned",
    }


async def test_a_recorded_call_with_another_request_is_not_guessed_about(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    await lab.db.rows("alter table steps disable trigger append_only")
    await lab.db.rows("update steps set node = 'other' where seq = 1")
    await lab.redis.flushdb()
    await lab.answer(session_id)
    await duties.runner.advance(session_id)
    assert json.loads((await lab.session(session_id))["error"])["code"] == "journal_diverged"


async def test_never_clarify_takes_the_default_and_says_so(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True, clarify="never")
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert json.loads(row["result"])["answer"] == "a"
    said = await lab.db.row("select body from events where kind = 'clarification_answered'")
    assert said
    assert json.loads(said["body"])["by"] == "default"


async def test_a_worker_that_is_asked_to_stop_hands_its_sessions_on(lab: Lab) -> None:
    worker = lab.start_worker()
    session_id = await lab.create(step_ms=150, fits=2, fit_ms=NEVER_MS)
    await lab.until(session_id, lambda row: row["last_seq"] >= 1)
    await worker.end()
    row = await lab.session(session_id)
    assert row["lease_until"] is None
    assert row["crashes"] == 0
    # It may have come to its fits before it heard that it should stop: nobody drives it while they run.
    drives = 0 if row["status"] == "awaiting_fits" else 1
    lab.start_worker()
    await lab.wait_for_row("select 1 from fits where status = 'running' limit 1")
    assert (await lab.session(session_id))["fence"] == row["fence"] + drives


async def test_a_fit_is_handed_on_when_its_worker_stops(lab: Lab) -> None:
    worker = lab.start_worker()
    await lab.create(fits=1, fit_ms=NEVER_MS)
    await lab.wait_for_row("select 1 from fits where status = 'running'")
    await worker.end()
    row = await lab.db.row("select status, runs from fits")
    assert row
    assert (row["status"], row["runs"]) == ("queued", 0)


@pytest.mark.parametrize("answer", ["c", 3, None])
async def test_an_answer_that_was_not_an_option_is_refused(
    lab: Lab, duties: WorkerServices, answer: object
) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    with pytest.raises(Exception, match="answer"):
        await lab.service.respond(lab.owner, session_id, None, answer)  # type: ignore[arg-type]
    assert (await lab.session(session_id))["status"] == "awaiting_user"
