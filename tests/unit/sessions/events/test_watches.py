"""Many sessions in one stream: each watch by its own name, from its own cursor, and none that fails quietly."""

import asyncio
import json
from collections.abc import AsyncGenerator
from uuid import UUID, uuid4

import pytest

from app.errors import NotFound, TooMany
from app.sessions.events.serialization import EventMessage
from app.sessions.events.watches import MAX_WATCHES, Frame, Watches, frame_text

STRANGE = uuid4()
"""The session of another user."""


class Sessions:
    """Sessions whose events are given by a test."""

    def __init__(self) -> None:
        self.queues: dict[UUID, asyncio.Queue[list[EventMessage] | Exception | None]] = {}
        self.cursors: list[int] = []
        self.position = 1

    async def events(self, session: UUID, since: int) -> AsyncGenerator[list[EventMessage], None]:
        self.cursors.append(since)
        queue = self.queues.setdefault(session, asyncio.Queue())
        while batch := await queue.get():
            if isinstance(batch, Exception):
                raise batch
            yield batch

    async def check(self, session: UUID) -> None:
        if session == STRANGE:
            raise NotFound("session_not_found", "There is no such session.")

    async def lists(self) -> int:
        return self.position

    def say(self, session: UUID, *numbers: int) -> None:
        batch = [EventMessage(number, "message", f'{{"seq":{number}}}') for number in numbers]
        self.queues.setdefault(session, asyncio.Queue()).put_nowait(batch)

    def end(self, session: UUID, error: Exception | None = None) -> None:
        self.queues.setdefault(session, asyncio.Queue()).put_nowait(error)


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def watches(sessions: Sessions) -> Watches:
    return Watches(sessions.events, sessions.check, sessions.lists, lists_interval_s=0)


async def test_sessions_share_a_stream_and_keep_their_cursors(sessions: Sessions, watches: Watches) -> None:
    one, two = uuid4(), uuid4()
    watches.watch("a", one, 7)
    watches.watch("b", two, 0)
    sessions.say(one, 8)
    sessions.end(one)
    sessions.say(two, 1, 2)
    frames = watches.frames()
    received = [await anext(frames) for _ in range(3)]
    await frames.aclose()
    texts = sorted(frame_text(frame) for frame in received)
    assert [json.loads(text) for text in texts] == [
        {"kind": "ended", "watch": "a"},
        {"kind": "events", "watch": "a", "events": [{"seq": 8}]},
        {"kind": "events", "watch": "b", "events": [{"seq": 1}, {"seq": 2}]},
    ]
    assert sorted(sessions.cursors) == [0, 7]


async def test_a_session_of_somebody_else_is_refused_and_the_rest_goes_on(
    sessions: Sessions, watches: Watches
) -> None:
    mine = uuid4()
    watches.watch("theirs", STRANGE, 0)
    watches.watch("mine", mine, 0)
    frames = watches.frames()
    assert await anext(frames) == Frame("theirs", refusal="session_not_found")
    sessions.say(mine, 1)
    assert (await anext(frames)).watch == "mine"
    await frames.aclose()


async def test_the_end_of_a_watch_and_of_the_stream_end_what_they_read(
    sessions: Sessions, watches: Watches
) -> None:
    one, two = uuid4(), uuid4()
    watches.watch("a", one, 0)
    watches.watch("b", two, 0)
    frames = watches.frames()
    sessions.say(one, 1)
    await anext(frames)
    await watches.unwatch("a")
    await watches.unwatch("never begun")
    sessions.say(one, 2)
    sessions.say(two, 1)
    assert (await anext(frames)).watch == "b"
    await frames.aclose()
    assert [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("watch-")] == []


async def test_no_frame_of_a_former_watch_comes_under_its_name(sessions: Sessions, watches: Watches) -> None:
    former, later = uuid4(), uuid4()
    watches.watch("a", former, 0)
    sessions.say(former, 1)
    sessions.say(former, 2)
    frames = watches.frames()
    await anext(frames)
    watches.watch("a", later, 0)
    sessions.say(later, 9)
    sessions.say(later, 10)
    assert [event.seq for event in (await anext(frames)).events] == [9]
    await watches.unwatch("a")
    watches.watch("b", former, 0)
    sessions.end(former)
    assert await anext(frames) == Frame("b", is_last=True)
    await frames.aclose()


async def test_a_watch_that_fails_ends_the_stream_with_its_error(sessions: Sessions, watches: Watches) -> None:
    session = uuid4()
    watches.watch("a", session, 0)
    sessions.end(session, ConnectionError("Postgres is away"))
    with pytest.raises(ConnectionError):
        await anext(watches.frames())


async def test_lists_are_reported_when_they_change(sessions: Sessions, watches: Watches) -> None:
    watches.watch_lists("lists")
    frames = watches.frames()
    assert await anext(frames) == Frame(None, lists=1)
    sessions.position = 2
    assert frame_text(await anext(frames)) == '{"kind":"lists","position":2}'
    await frames.aclose()


async def test_a_client_cannot_watch_without_end(sessions: Sessions, watches: Watches) -> None:
    for number in range(MAX_WATCHES):
        watches.watch(f"w{number}", uuid4(), 0)
    watches.watch("w0", uuid4(), 0)
    with pytest.raises(TooMany):
        watches.watch("one more", uuid4(), 0)
    frames = watches.frames()
    coming = asyncio.ensure_future(anext(frames))
    await asyncio.sleep(0)
    coming.cancel()
    await asyncio.wait([coming])
    await frames.aclose()
