"""A watcher gets every durable event once and in order, pushed or waited for."""

import asyncio
from collections.abc import Sequence

import pytest

from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import MAX_BEHIND, FellBehind, Listener


def seen(*numbers: int | None, kind: str = "message") -> list[EventMessage]:
    return [EventMessage(n, kind, f"event {n}") for n in numbers]


class Client:
    """Takes what it is pushed while it is `ready`."""

    def __init__(self) -> None:
        self.ready = True
        self.got: list[int | None] = []

    def __call__(self, told: Sequence[EventMessage]) -> bool:
        if self.ready:
            self.got += [one.n for one in told]
        return self.ready


async def waiting(listener: Listener) -> "asyncio.Task[list[EventMessage]]":
    """Its `next`, asked for and asleep."""
    task = asyncio.create_task(listener.next())
    await asyncio.sleep(0)
    return task


async def test_what_is_heard_while_nobody_waits_is_next() -> None:
    listener = Listener(0)
    listener.hear(seen(1, None, 2))
    assert await listener.next() == seen(1, None, 2)
    assert listener.seen == 2


async def test_what_was_seen_is_dropped_and_a_missing_number_sends_to_the_rows() -> None:
    listener = Listener(3)
    listener.hear(seen(2, 3, 4, 6))
    assert await listener.next() == seen(4)
    assert await listener.next() == []
    listener.seen = 6  # read from rows
    listener.hear(seen(6, 7))
    assert await listener.next() == seen(7)


async def test_what_is_heard_by_a_waiting_watcher_is_pushed_and_wakes_nobody() -> None:
    client = Client()
    listener = Listener(0, client)
    task = await waiting(listener)
    listener.hear(seen(1))
    listener.hear(seen(1, 2, None))
    assert client.got == [1, 2, None]
    assert not task.done()
    listener.look()
    assert await task == []


async def test_a_client_that_is_not_ready_gets_everything_in_order_by_waiting() -> None:
    client = Client()
    client.ready = False
    listener = Listener(0, client)
    task = await waiting(listener)
    listener.hear(seen(1))
    client.ready = True
    listener.hear(seen(2))  # must not overtake 1
    assert client.got == []
    assert await task == seen(1)
    assert await listener.next() == seen(2)


async def test_a_gap_is_never_pushed_over() -> None:
    client = Client()
    listener = Listener(0, client)
    task = await waiting(listener)
    listener.hear(seen(1, 3))
    assert client.got == [1]
    assert await task == []
    assert listener.seen == 1


async def test_the_last_event_that_is_pushed_ends_the_watch() -> None:
    client = Client()
    listener = Listener(4, client)
    task = await waiting(listener)
    listener.hear(seen(5, kind="session_finished"))
    assert await task == []
    assert listener.over
    assert client.got == [5]


async def test_a_watcher_that_is_too_far_behind_is_sent_away() -> None:
    listener = Listener(0)
    listener.hear(seen(*range(1, MAX_BEHIND + 1)))
    listener.hear(seen(MAX_BEHIND + 1))
    with pytest.raises(FellBehind):
        await listener.next()
