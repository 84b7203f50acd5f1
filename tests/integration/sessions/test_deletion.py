"""Deleting what runs: it is cancelled, and goes when nothing of it runs any more, whatever dies meanwhile."""

import json

from tests.integration.sessions.conftest import Lab
from tests.integration.sessions.lab.graph import NEVER_MS

from app.deletion.accounts import AccountDeletions
from app.deletion.deletions import Deletions


def _deletions(lab: Lab) -> Deletions:
    return Deletions(lab.db, lab.redis, lab.service.publisher, lab.service.send_job)


async def test_a_running_session_is_deleted_by_workers_that_are_killed(lab: Lab) -> None:
    worker = lab.start_worker()
    running, other = await lab.create(fits=2, fit_ms=NEVER_MS), await lab.create(ask=True)
    await lab.wait_for_row("select from fits where status = 'running'")
    # 0 where the worker has noticed the cancellation and completed the deletion before the request counts.
    assert await _deletions(lab).delete_session(lab.owner, running, None) <= 1
    worker.kill()
    await lab.lapse()
    await lab.wait_for_row("select from deletions where done_at is not null")
    assert [row["id"] for row in await lab.db.rows("select id from sessions")] == [other]
    left = "select from calls where session_id = $1 union all select from audit where session_id = $1"
    assert await lab.db.rows(left, running) == []
    await lab.answer(other)
    assert (await lab.ended(other))["status"] == "completed"


async def test_an_account_is_deleted_by_workers_that_are_killed(lab: Lab) -> None:
    worker = lab.start_worker()
    for fits in (0, 0, 2):
        await lab.create(fits=fits, fit_ms=NEVER_MS)
    await lab.wait_for_row("select from fits where status = 'running'")
    await AccountDeletions(lab.db, lab.redis, _deletions(lab)).request(lab.owner, "operator")
    worker.kill()
    await lab.lapse()
    done = await lab.wait_for_row("select gone from deletions where done_at is not null")
    assert json.loads(done["gone"])["sessions"] == 3
    assert await lab.db.rows("select id from users union all select id from sessions") == []
