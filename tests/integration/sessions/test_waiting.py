"""What is not there yet is waited for, and what was not begun is left to others."""

import asyncio
from pathlib import Path

from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.duties import open_duties

from app.sessions.waiting.fits import FitKey
from app.worker.event_loop import WorkerLoop, WorkerServices


async def test_a_session_and_its_fits_wait_for_the_blob_store(
    lab: Lab, duties: WorkerServices, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    away.touch()
    session_id = await lab.create(send=False, away_while=str(away), fits=1)
    await duties.runner.advance(session_id)
    row = await lab.session(session_id)
    assert (row["status"], row["lease_until"], row["crashes"], row["last_seq"]) == ("queued", None, 0, 0)

    away.unlink()
    await duties.runner.advance(session_id)
    away.touch()
    round_key = str((await lab.wait_for_row("select round_key from fits"))["round_key"])
    fit = FitKey(session_id, round_key, 0)
    await duties.fits.run(fit)
    found = await lab.wait_for_row("select status, runs, lease_until from fits")
    assert (found["status"], found["runs"], found["lease_until"]) == ("queued", 0, None)

    away.unlink()
    await duties.fits.run(fit)
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"


async def test_what_a_stopping_worker_had_taken_is_queued_again(lab: Lab) -> None:
    environment = {
        "DATABASE_URL": lab.database_url,
        "REDIS_URL": lab.redis_url,
        "LAB_FOLDER": str(lab.folder),
    }
    session_id = await lab.create(send=False)
    loop = WorkerLoop(lambda: open_duties(environment))

    def stop_with_jobs_in_hand() -> None:
        loop.start()
        loop.drain()
        loop.advance(session_id)
        loop.fit(FitKey(session_id, "4.round", 0))
        loop.stop()

    await asyncio.to_thread(stop_with_jobs_in_hand)
    assert [await lab.redis.llen(queue) for queue in ("steps", "compute")] == [1, 1]
    assert (await lab.session(session_id))["fence"] == 0
