"""What a watcher sees: every durable event once and in order, whatever Redis does."""

import asyncio
import json
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.integration.sessions.conftest import Lab
from tests.patience import hang_guard, until

from app import jobs
from app.sessions.events import stream as watching
from app.sessions.events import subscription as listening
from app.sessions.events.publisher import channel_name
from app.sessions.events.serialization import EventMessage
from app.sessions.events.stream import EventStreams
from app.sessions.events.subscription import FellBehind
from app.worker.event_loop import WorkerServices


@pytest.fixture
async def watch(lab: Lab) -> AsyncIterator[EventStreams]:
    watch = EventStreams(lab.redis_url, lab.db)
    yield watch
    await watch.close()


async def _heard_by(lab: Lab, *session_ids: UUID) -> None:
    """Wait until Redis sends somebody the events of each session; live ones are for who listens by then."""
    async with hang_guard():
        while 0 in [n for _, n in await lab.redis.pubsub_numsub(*map(channel_name, session_ids))]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def _see(watch: EventStreams, lab: Lab, session_id: object, since: int = 0) -> list[EventMessage]:
    return [seen async for seen in watch.subscribe(session_id, since)]  # type: ignore[arg-type]


def _numbers(seen: list[EventMessage]) -> list[int]:
    return [one.seq for one in seen if one.seq is not None]


async def test_a_watcher_sees_durable_events_in_order_and_live_ones_between(
    lab: Lab, watch: EventStreams
) -> None:
    session_id = await lab.create(fits=2, step_ms=5)
    watching = asyncio.create_task(_see(watch, lab, session_id))
    await _heard_by(lab, session_id)
    lab.start_worker()
    async with hang_guard():
        seen = await watching
    assert _numbers(seen) == list(range(1, len(_numbers(seen)) + 1))
    assert seen[-1].kind == "session_finished"
    assert {"step_started", "progress"} <= {one.kind for one in seen if one.seq is None}
    for one in seen:
        body = json.loads(one.data)
        assert body["kind"] == one.kind
        assert body.get("seq") == one.seq
        assert body["created_at"]


async def test_a_watcher_of_a_finished_session_gets_it_all_and_is_let_go(
    lab: Lab, watch: EventStreams, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False)
    await duties.runner.advance(session_id)
    async with hang_guard():
        all_of_it = await _see(watch, lab, session_id)
        rest = await _see(watch, lab, session_id, since=4)
        nothing = await _see(watch, lab, session_id, since=len(all_of_it))
    assert _numbers(rest) == _numbers(all_of_it)[4:]
    assert nothing == []


async def test_the_tail_and_the_rows_say_the_same(
    lab: Lab, watch: EventStreams, duties: WorkerServices
) -> None:
    session_id = await lab.create(send=False, fits=1)
    task = asyncio.create_task(_see(watch, lab, session_id))
    await _heard_by(lab, session_id)
    lab.start_worker()
    lab.send(jobs.advance_job(session_id))
    async with hang_guard():
        live = [one for one in await task if one.seq is not None]
        read = await _see(watch, lab, session_id)
    assert [(one.seq, json.loads(one.data)) for one in live] == [
        (one.seq, json.loads(one.data)) for one in read
    ]


async def test_a_watcher_misses_nothing_when_the_tail_is_cut(
    lab: Lab, watch: EventStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection to Redis is closed again and again; the rows fill the gaps."""
    monkeypatch.setattr(watching, "_CHECK_INTERVAL_S", 0.3)
    lab.start_worker()
    session_id = await lab.create(step_ms=60, fits=2)

    async def cut() -> None:
        while True:
            await asyncio.sleep(0.1)
            await lab.redis.client_kill_filter(_type="pubsub", skipme=True)

    cutting = asyncio.create_task(cut())
    async with hang_guard():
        seen = await _see(watch, lab, session_id)
    cutting.cancel()
    assert _numbers(seen) == list(range(1, len(_numbers(seen)) + 1))
    assert seen[-1].kind == "session_finished"


async def test_a_watcher_that_does_not_read_is_sent_away(
    lab: Lab, watch: EventStreams, duties: WorkerServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MAX_PENDING_EVENTS", 3)
    session_id = await lab.create(send=False, ask=True)
    await duties.runner.advance(session_id)
    stream = watch.subscribe(session_id)
    first = await anext(stream)
    assert first.seq == 1
    await lab.answer(session_id)
    await duties.runner.advance(session_id)
    await until(lambda: all(listener._overrun for listener in watch._subscriptions[session_id]))
    with pytest.raises(FellBehind):
        async for _ in stream:
            pass


async def test_many_watchers_share_one_connection(lab: Lab, watch: EventStreams) -> None:
    lab.start_worker()
    made = [await lab.create(ask=True) for _ in range(3)]
    watchers = [asyncio.create_task(_see(watch, lab, session_id)) for session_id in made * 2]

    async def connections() -> list[int]:
        return [count for _, count in await lab.redis.pubsub_numsub(*map(channel_name, made))]

    async with hang_guard():
        while min(await connections()) == 0:  # noqa: ASYNC110 - Redis rings no bell
            await asyncio.sleep(0.01)
        assert await connections() == [1, 1, 1]
        await asyncio.gather(*(lab.answer(session_id) for session_id in made))
        seen = await asyncio.gather(*watchers)
    assert all(one[-1].kind == "session_finished" for one in seen)
