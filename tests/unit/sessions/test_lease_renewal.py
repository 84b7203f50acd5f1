import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from tests.patience import HANG_GUARD_S, hang_guard

from app.sessions.lease_renewal import Rechecks, renew_in_background


@dataclass
class Held:
    recheck: asyncio.Event = field(default_factory=asyncio.Event)


async def test_a_lease_is_renewed_until_it_is_not_ours_and_when_it_is_looked_at() -> None:
    running: dict[str, Held] = {}
    held, answers = Held(), iter([True, ConnectionResetError("Postgres is away"), True, False])
    asked = asyncio.Event()

    async def renew() -> bool:
        answer = next(answers)
        asked.set()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with renew_in_background(running, "a", held, renew, interval_s=10 * HANG_GUARD_S):
        assert running == {"a": held}
        for _ in range(4):
            asked.clear()
            held.recheck.set()
            async with hang_guard():
                await asked.wait()
        asked.clear()
        held.recheck.set()
        await asyncio.sleep(0)
        assert not asked.is_set()
    assert not running


async def test_a_lease_that_another_took_over_stays_listed() -> None:
    running: dict[str, Held] = {}
    first, second = Held(), Held()

    async def renew() -> bool:
        return True

    async with renew_in_background(running, "a", first, renew, interval_s=10 * HANG_GUARD_S):
        running["a"] = second
    assert running == {"a": second}


async def test_rechecks_reach_the_leases_of_a_session_from_before_their_claim_until_they_end() -> None:
    rechecks, cancelled, other = Rechecks(), uuid4(), uuid4()
    with (
        rechecks.listen(cancelled) as drive,
        rechecks.listen(cancelled) as fit,
        rechecks.listen(other) as unrelated,
    ):
        rechecks.announce(cancelled)
        assert drive.is_set()
        assert fit.is_set()
        assert not unrelated.is_set()
        rechecks.announce_all()
        assert unrelated.is_set()
        unrelated.clear()
    rechecks.announce_all()
    assert not unrelated.is_set()
