"""Two of everything, and things that come too early."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.rows import assert_all_once, effects

from app.errors import InvalidInput
from app.sessions.drive.journal import CallEntry, Journal, StepEntry, StepOutputs
from app.sessions.fenced_writer import FencedWriter
from app.sessions.lease import LeaseLost
from app.sessions.step_scope import ArtifactDraft, Call, CallResult
from app.sessions.waiting.fits import FitKey
from app.worker.event_loop import WorkerServices


async def test_two_workers_and_doubled_jobs_do_everything_once(lab: Lab) -> None:
    lab.start_worker()
    session_id = await lab.create(ask=True, fits=3)
    await lab.answer(session_id)
    await lab.ended(session_id)
    like = await effects(lab.db, session_id)
    lab.start_worker(LAB_SLICE_S="0")
    lab.duplicates = 3
    made = [await lab.create(ask=True, fits=3, step_ms=2) for _ in range(12)]
    await asyncio.gather(*(lab.answer(session_id) for session_id in made))
    for session_id in made:
        await lab.ended(session_id)
        await assert_all_once(lab.db, session_id, like)


async def test_one_of_two_simultaneous_claims_wins(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    claims = await asyncio.gather(*(duties.runner.leases.claim(session_id) for _ in range(8)))
    assert len([claim for claim in claims if claim]) == 1


async def test_a_driver_whose_lease_ran_out_cannot_commit(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    leases = duties.runner.leases
    loser = await leases.claim(session_id)
    await lab.db.row("update sessions set lease_until = now() where id = $1 returning 1", session_id)
    winner = await leases.claim(session_id)
    assert loser
    assert winner
    assert winner.crashes == 1
    journal = Journal(FencedWriter(duties.db, loser, 1.0))
    done = StepEntry(1, "planning", {"step": 1}, winner.facts.created_at)
    with pytest.raises(LeaseLost):
        await journal.commit(done, StepOutputs())
    with pytest.raises(LeaseLost):
        await leases.renew(loser)
    assert not await leases.hand_back(loser, has_more=True)
    assert not await lab.db.rows("select 1 from steps where session_id = $1", session_id)


async def test_a_late_renewal_does_not_take_a_lease_that_was_given_back(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False)
    leases = duties.runner.leases
    lease = await leases.claim(session_id)
    assert lease
    assert await leases.hand_back(lease, has_more=True)
    with pytest.raises(LeaseLost):
        await leases.renew(lease)
    successor = await leases.claim(session_id)
    assert successor
    assert not successor.taken_over


async def test_a_reply_that_was_lost_is_found_in_the_journal(lab: Lab, duties: WorkerServices) -> None:
    """The statement ran, its answer never came, and it is sent again."""
    session_id = await lab.create(send=False)
    lease = await duties.runner.leases.claim(session_id)
    assert lease
    done = StepEntry(1, "planning", {"step": 1, "pair": (1, 2)}, lease.facts.created_at)
    for _ in range(2):
        update, _written = await Journal(FencedWriter(duties.db, lease, 1.0)).commit(done, StepOutputs())
        assert update == {"step": 1, "pair": [1, 2]}
    assert len(await lab.db.rows("select 1 from steps where session_id = $1", session_id)) == 1


async def test_a_lost_reply_about_an_artifact_is_found_too(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    lease = await duties.runner.leases.claim(session_id)
    assert lease
    left = ArtifactDraft("text", "notes", "text/plain", "0" * 64, 1)
    call = Call("tool:1", "tool", "write", "tester", {})
    done = CallEntry(1, call, CallResult({"ok": True}), lease.facts.created_at, 1.0)
    journal = Journal(FencedWriter(duties.db, lease, 1.0))
    for _ in range(2):
        value, _written = await journal.record(done, StepOutputs(artifacts=[left]))
        assert value == {"ok": True}
    assert len(await lab.db.rows("select 1 from artifacts where session_id = $1", session_id)) == 1
    with pytest.raises(InvalidInput, match="2 artifacts of one call are named 'notes'"):
        await journal.record(done, StepOutputs(artifacts=[left, replace(left, id=uuid4())]))


def _before(subject: Any, name: str, first: Any) -> None:
    """Have something happen just before a method of one object runs."""
    method = getattr(subject, name)

    async def both(*args: Any, **kwargs: Any) -> Any:
        setattr(subject, name, method)
        await first()
        return await method(*args, **kwargs)

    setattr(subject, name, both)


async def test_an_answer_before_the_release_is_not_lost(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True)
    _before(duties.runner.leases, "hand_back", lambda: lab.answer(session_id))
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["wake"] > (await lab.session(session_id))["seen"]
    await duties.runner.advance(session_id)
    assert (await lab.ended(session_id))["status"] == "completed"


async def test_fits_that_end_before_the_release_are_not_lost(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, fits=2)

    async def run_both_at_once() -> None:
        """Two fits that finish at once: the row of the round decides which is the last."""
        keys = [FitKey(session_id, "4.round", candidate) for candidate in (0, 1)]
        await asyncio.gather(*(duties.fits.run(key) for key in keys))

    _before(duties.runner.leases, "hand_back", run_both_at_once)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert (row["status"], row["wake"] - row["seen"]) == ("awaiting_fits", 1) or row["wake"] - row["seen"] == 1
    await duties.runner.advance(session_id)
    assert (await lab.ended(session_id))["status"] == "completed"


async def test_a_session_that_is_claimed_while_its_worker_drains_is_handed_back(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False)
    _before(duties.runner.leases, "claim", duties.runner.drain)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert (row["status"], row["last_seq"], row["lease_until"]) == ("queued", 0, None)
    assert row["wake"] > row["seen"]


async def test_a_fit_that_is_claimed_while_its_worker_drains_is_given_back(
    lab: Lab, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, fits=1)
    await duties.runner.advance(session_id)
    _before(duties.fits.db, "row", duties.fits.drain)
    await duties.fits.run(FitKey(session_id, "4.round", 0))
    fit = await lab.db.row("select status, runs, lease_until from fits where session_id = $1", session_id)
    assert fit
    assert tuple(fit.values()) == ("queued", 0, None)


async def test_many_fits_that_finish_at_once_wake_their_session_once(lab: Lab, duties: WorkerServices) -> None:
    for _ in range(10):
        session_id = await lab.create(send=False, fits=6)
        await duties.runner.advance(session_id)
        before = await lab.session(session_id)
        assert before["status"] == "awaiting_fits"
        await asyncio.gather(*(duties.fits.run(FitKey(session_id, "4.round", n)) for n in range(6)))
        assert (await lab.session(session_id))["wake"] == before["wake"] + 1


async def test_the_same_fit_delivered_twice_runs_once(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, fits=1, fit_ms=50)
    await duties.runner.advance(session_id)
    key = FitKey(session_id, "4.round", 0)
    await asyncio.gather(duties.fits.run(key), duties.fits.run(key))
    await duties.fits.run(key)
    row = await lab.db.row("select runs, status from fits")
    assert row
    assert (row["runs"], row["status"]) == (1, "done")


async def test_a_session_goes_on_when_redis_is_emptied(lab: Lab) -> None:
    workers = [lab.start_worker(LAB_SLICE_S="0.02"), lab.start_worker(LAB_SLICE_S="0")]
    session_id = await lab.create(ask=True, fits=2)
    await lab.answer(session_id)
    await lab.ended(session_id)
    like = await effects(lab.db, session_id)
    made = [await lab.create(ask=True, fits=2, step_ms=10, fit_ms=100) for _ in range(10)]

    async def empty() -> None:
        for n in range(10):
            await asyncio.sleep(0.15)
            await lab.redis.flushdb()
            if n % 4 == 3:
                workers[0].kill()
                await lab.lapse()

    emptying = asyncio.create_task(empty())
    await asyncio.gather(*(lab.answer(session_id) for session_id in made))
    await emptying
    for session_id in made:
        await lab.ended(session_id)
        await assert_all_once(lab.db, session_id, like)


async def test_a_paused_worker_that_comes_back_changes_nothing(lab: Lab) -> None:
    slow = lab.start_worker()
    hold = lab.hold()
    session_id = await lab.create(held_while=str(hold))
    await lab.until_held(session_id)
    slow.pause()
    await lab.lapse()
    hold.unlink()
    lab.start_worker()
    await lab.until(session_id, lambda row: row["last_seq"] >= 3)
    slow.resume()
    await lab.ended(session_id)
    await assert_all_once(lab.db, session_id, await effects(lab.db, session_id))
    assert (await lab.session(session_id))["fence"] >= 2
