import asyncio
from dataclasses import dataclass, field

from app.sessions.background import renewed, settle, stop


async def test_a_task_that_swallows_a_cancellation_is_stopped_all_the_same() -> None:
    async def stubborn() -> None:
        for _ in range(2):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue
        await asyncio.sleep(60)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await stop(task, None)
    assert task.cancelled()


async def test_a_cancellation_that_comes_too_late_does_not_cut_the_clean_up() -> None:
    async def work() -> str:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await settle(task)
        await asyncio.sleep(0.01)
        return "cleaned up"

    assert await asyncio.create_task(work()) == "cleaned up"


@dataclass
class Held:
    look: asyncio.Event = field(default_factory=asyncio.Event)


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

    async with renewed(running, "a", held, renew, every_s=60):
        assert running == {"a": held}
        for _ in range(4):
            asked.clear()
            held.look.set()
            await asyncio.wait_for(asked.wait(), 1)
        asked.clear()
        held.look.set()
        await asyncio.sleep(0)
        assert not asked.is_set()
    assert not running


async def test_a_lease_that_another_took_over_stays_listed() -> None:
    running: dict[str, Held] = {}
    first, second = Held(), Held()

    async def renew() -> bool:
        return True

    async with renewed(running, "a", first, renew, every_s=60):
        running["a"] = second
    assert running == {"a": second}
