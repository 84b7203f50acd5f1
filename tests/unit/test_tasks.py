import asyncio

from app.tasks import cancel_and_wait, consume_cancellation


async def test_a_task_that_swallows_a_cancellation_is_stopped_all_the_same() -> None:
    async def stubborn() -> None:
        for _ in range(2):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue
        await asyncio.Event().wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await cancel_and_wait(task, None)
    assert task.cancelled()


async def test_a_cancellation_that_comes_too_late_does_not_cut_the_clean_up() -> None:
    async def work() -> str:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await consume_cancellation(task)
        await asyncio.sleep(0.01)  # clock: a clean-up that takes a moment
        return "cleaned up"

    assert await asyncio.create_task(work()) == "cleaned up"
