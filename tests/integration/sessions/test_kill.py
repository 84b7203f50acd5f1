"""SIGKILL at any moment: every session ends, with each effect once."""

import asyncio
import random
from typing import Any
from uuid import UUID

from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.rows import assert_all_once, effects

from app import jobs


async def _undisturbed(lab: Lab, **preferences: Any) -> tuple[UUID, dict[str, object]]:
    session_id = await lab.create(**preferences)
    if preferences.get("ask"):
        await lab.answer(session_id)
    await lab.ended(session_id)
    like = await effects(lab.db, session_id)
    await assert_all_once(lab.db, session_id, like)
    return session_id, like


async def test_a_session_survives_a_kill_at_every_journal_boundary(lab: Lab) -> None:
    """Before and after each statement that moves a session or a fit, one session a place."""
    for _ in range(2):  # the second works while the first is born again
        lab.start_worker()
    runs = [await _undisturbed(lab, seed=1, ask=True, fits=2) for _ in range(2)]
    like = runs[0][1]
    # The fewest: where a machine is slow, a wake-up that comes twice is one more.
    statements = min((lab.folder / f"count-{counted}").stat().st_size for counted, _ in runs)
    assert statements >= 20
    for place in range(2, 2 * statements + 2):
        session_id = await lab.create(seed=place, ask=True, fits=2)
        answered = asyncio.create_task(lab.answer(session_id))
        if await _struck(lab, session_id):
            await _skip_the_wait(lab, session_id)
        await answered
        await lab.ended(session_id)
        await assert_all_once(lab.db, session_id, like)
    assert len(list(lab.folder.glob("struck-*"))) >= 2 * statements - 4


async def _struck(lab: Lab, session_id: UUID) -> bool:
    """Whether the worker was killed for this session; False once it ended without."""
    mark = lab.folder / f"struck-{session_id}"
    await lab.until(session_id, lambda row: mark.exists() or row["ended_at"] is not None)
    return mark.exists()


async def _skip_the_wait(lab: Lab, session_id: UUID) -> None:
    """Leases run out at once and the jobs come again, as the sweeper would have it some time later."""
    await lab.db.rows(
        "update sessions set lease_until = now() where id = $1 and lease_until > now()", session_id
    )
    await lab.db.rows(
        "update fits set lease_until = now() where session_id = $1 and status = 'running'", session_id
    )
    lab.send(jobs.advance_job(session_id))
    for candidate in (0, 1):
        lab.send(jobs.fit_job(session_id, "4.round", candidate))


async def test_sessions_survive_kills_at_random_moments(lab: Lab) -> None:
    workers = [lab.start_worker(), lab.start_worker(LAB_SLICE_S="0.02")]
    _, like = await _undisturbed(lab, ask=True, fits=2, step_ms=4, fit_ms=40)
    made = [await lab.create(ask=True, fits=2, step_ms=4, fit_ms=40) for _ in range(12)]

    async def kill_now_and_then() -> None:
        chance = random.Random(7)
        for _ in range(8):
            await asyncio.sleep(chance.uniform(0.05, 0.5))
            chance.choice(workers).kill()
            await lab.lapse()

    killing = asyncio.create_task(kill_now_and_then())
    await asyncio.gather(*(lab.answer(session_id) for session_id in made))
    await killing
    for session_id in made:
        await lab.ended(session_id)
        await assert_all_once(lab.db, session_id, like)


async def test_fits_that_die_with_their_worker_run_again(lab: Lab) -> None:
    worker = lab.start_worker()
    hold = lab.hold()
    session_id = await lab.create(fits=4, fits_held_while=str(hold))
    for _ in range(2):
        doomed = await lab.wait_for_row("select candidate, fence from fits where status = 'running' limit 1")
        worker.kill()
        await lab.lapse()
        await lab.wait_for_row("select 1 from fits where candidate = $1 and fence > $2", *doomed.values())
    hold.unlink()
    await lab.ended(session_id)
    await assert_all_once(lab.db, session_id, {"fits": [(n, "done") for n in range(4)]})
    again = await lab.db.row("select max(runs) as runs from fits")
    assert again
    assert again["runs"] > 1
