"""Our saver keeps LangGraph's contract on plain Redis commands, and makes only the types it lists."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from redis.asyncio import Redis
from tests.integration.sessions.conftest import Lab

from app.sessions.checkpoints import RedisCheckpoints, thread_config
from app.worker.event_loop import WorkerServices

PROMISED = {"put", "put_writes", "get_tuple", "list", "delete_thread", "prune"}


@dataclass
class Stranger:
    """Something that a checkpoint must not be able to make."""

    word: str


async def test_the_saver_conforms(redis_url: str) -> None:
    @checkpointer_test(name="RedisCheckpoints")
    async def factory() -> AsyncGenerator[RedisCheckpoints, None]:
        async with Redis.from_url(redis_url) as redis:
            yield RedisCheckpoints(redis)

    report = await validate(factory, capabilities=PROMISED)
    results = report.to_dict()["results"]
    assert {
        name for name, result in results.items() if result["passed"] and not result["tests_failed"]
    } >= PROMISED


async def test_a_type_that_is_not_listed_is_not_made(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis:
        saver = RedisCheckpoints(redis)
        checkpoint = {**empty_checkpoint(), "channel_values": {"odd": Stranger("hello")}}
        await saver.aput(thread_config("t"), checkpoint, {}, {})  # type: ignore[typeddict-item]
        found = await saver.aget_tuple(thread_config("t"))
    assert found
    assert not isinstance(found.checkpoint["channel_values"]["odd"], Stranger)


async def test_an_unknown_pruning_strategy_is_refused(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as redis:
        with pytest.raises(ValueError, match="keep_latest"):
            await RedisCheckpoints(redis).aprune(["t"], strategy="some")


async def test_a_session_that_ends_in_one_slice_leaves_no_checkpoint(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False)
    await duties.runner.advance(session_id)
    assert (await lab.session(session_id))["status"] == "completed"
    assert not await lab.redis.keys("labcrew:checkpoints:*")


async def test_a_waiting_session_keeps_one_checkpoint_until_it_ends(lab: Lab, duties: WorkerServices) -> None:
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    saved = await duties.runner.checkpoints.aget_tuple(thread_config(str(session_id)))
    assert saved
    assert saved.checkpoint["channel_values"]["step"] == 1
    await lab.answer(session_id)
    await duties.runner.advance(session_id)
    assert not await lab.redis.keys("labcrew:checkpoints:*")


async def test_a_checkpoint_ahead_of_the_journal_is_not_believed(lab: Lab, duties: WorkerServices) -> None:
    """As after a database was restored: Redis then knows steps that never happened."""
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    await lab.db.rows("update sessions set last_seq = 0 where id = $1", session_id)
    for table in ("steps", "calls"):
        await lab.db.rows(f"alter table {table} disable trigger append_only")
    await lab.db.rows("delete from steps")
    await lab.db.rows("delete from questions")
    await lab.db.rows("delete from calls")
    await lab.db.rows("delete from artifacts")
    await lab.db.rows("delete from messages")
    await lab.db.rows("update sessions set wake = wake + 1, admitted_at = now()")
    await duties.runner.advance(session_id)
    steps = await lab.db.rows("select node from steps order by seq")
    assert [step["node"] for step in steps] == ["planning"]
