"""Paused sessions: nothing begins, what runs ends, and the clock stands."""

import asyncio

import pytest
from tests.integration.sessions.conftest import Lab

from app.errors import Conflict, NotFound
from app.sessions.config import SessionsConfig
from app.sessions.pausing import Pauses
from app.sessions.statements import ROUNDS
from app.sessions.sweeper import sweep
from app.sessions.waiting.fits import FitKey
from app.worker.event_loop import WorkerServices


def pauses_of(lab: Lab) -> Pauses:
    return Pauses(lab.db, lab.service.publisher, lab.service.send_job, SessionsConfig())


async def test_no_step_begins_until_the_session_is_resumed(lab: Lab, duties: WorkerServices) -> None:
    pauses = pauses_of(lab)
    session_id = await lab.create(send=False, ask=True)
    assert await pauses.pause(lab.owner, session_id) == "paused"
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["fence"] == 0
    assert await pauses.resume(lab.owner, session_id) == "queued"
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "awaiting_user"

    for _ in range(2):
        assert await pauses.pause(lab.owner, session_id) == "paused"
    await lab.service.respond(lab.owner, session_id, None, "b")
    before = await lab.session(session_id)
    assert before["status"] == "paused"
    await sweep(duties.db, duties.send, grace_s=0)
    await duties.runner.advance(session_id)
    assert await lab.session(session_id) == before
    assert await pauses.resume(lab.owner, session_id) == "queued"
    assert await pauses.resume(lab.owner, session_id) == "queued"
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "completed", row["error"]
    events = await lab.db.rows("select n, kind from events where session_id = $1 order by n", session_id)
    assert [event["n"] for event in events] == list(range(1, row["event_seq"] + 1))
    kinds = [event["kind"] for event in events]
    assert (kinds.count("session_paused"), kinds.count("session_resumed")) == (2, 2)
    with pytest.raises(Conflict, match="has ended"):
        await pauses.pause(lab.owner, session_id)
    with pytest.raises(NotFound):
        await pauses.pause(lab.owner, lab.owner)


async def test_a_driver_ends_its_step_and_begins_no_other(lab: Lab, duties: WorkerServices) -> None:
    hold = lab.hold()
    session_id = await lab.create(send=False, held_while=str(hold))
    driving = asyncio.create_task(duties.runner.advance(session_id))
    await lab.until_held(session_id)
    await pauses_of(lab).pause(lab.owner, session_id)
    hold.unlink()
    await driving
    row = await lab.session(session_id)
    assert row["last_seq"] == 3
    assert (row["status"], row["lease_until"], row["admitted_at"]) == ("paused", None, None)
    assert await pauses_of(lab).resume(lab.owner, session_id) == "queued"
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"


async def test_fits_do_not_begin_and_their_round_gets_its_time_back(lab: Lab, duties: WorkerServices) -> None:
    pauses = pauses_of(lab)
    session_id = await lab.create(send=False, fits=2)
    await duties.runner.advance(session_id)
    round_row = await lab.wait_for_row("select round_key, deadline_at from rounds")
    running, queued = (FitKey(session_id, str(round_row["round_key"]), place) for place in range(2))
    claim = await lab.db.row(ROUNDS.claim, *running.key_columns, 3600.0)
    assert claim is not None
    assert await pauses.pause(lab.owner, session_id) == "paused"
    await duties.fits.run(queued)
    statuses = await lab.db.rows("select status from fits order by candidate")
    assert [row["status"] for row in statuses] == ["running", "queued"]

    # What runs may end, and is recorded.
    ended = ("done", '{"value": {"score": 0.5}, "files": {}}', '{"kind": "fit_finished"}')
    at = round_row["deadline_at"]
    assert await lab.db.row(ROUNDS.finish, *running.key_columns, claim["fence"], *ended, at)
    assert (await lab.session(session_id))["status"] == "paused"

    await lab.db.rows(
        "update sessions set paused_at = now() - interval '1 hour', waiting_since = now() - interval '1 hour'"
    )
    before = await lab.session(session_id)
    assert await pauses.resume(lab.owner, session_id) == "queued"
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert row["status"] == "awaiting_fits"
    assert row["waited_s"] - before["waited_s"] >= 3600
    assert (row["deadline_at"] - before["deadline_at"]).total_seconds() >= 3600
    moved = await lab.wait_for_row("select deadline_at from rounds")
    assert (moved["deadline_at"] - round_row["deadline_at"]).total_seconds() >= 3600
    await duties.fits.run(queued)
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"


async def test_whoever_takes_over_a_paused_session_hands_it_back(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    before = await lab.session(session_id)
    # Its driver died after the pause, before its step ended.
    await lab.db.rows(
        "update sessions set status = 'running', paused_at = now(), admitted_at = now(), "
        "lease_until = now() - interval '1 minute' where id = $1",
        session_id,
    )
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert (row["status"], row["last_seq"]) == ("paused", before["last_seq"])
    await pauses_of(lab).resume(lab.owner, session_id)
    await lab.service.respond(lab.owner, session_id, None, "b")
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"


async def test_a_paused_session_can_be_cancelled(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    await pauses_of(lab).pause(lab.owner, session_id)
    await lab.service.cancel(lab.owner, session_id)
    with pytest.raises(Conflict, match="being cancelled"):
        await pauses_of(lab).resume(lab.owner, session_id)
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "cancelled"


async def test_a_worker_goes_on_with_a_resumed_session_by_itself(lab: Lab) -> None:
    lab.start_worker()
    hold = lab.hold()
    session_id = await lab.create(fits=2, held_while=str(hold))
    await lab.until_held(session_id)
    await pauses_of(lab).pause(lab.owner, session_id)
    hold.unlink()
    await lab.until(session_id, lambda row: row["status"] == "paused")
    await pauses_of(lab).resume(lab.owner, session_id)
    assert (await lab.ended(session_id))["status"] == "completed"
