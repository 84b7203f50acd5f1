"""A watcher gets every durable event once and in order, pushed or waited for."""

import asyncio
from collections.abc import Sequence

import pytest

from app.sessions.events.serialization import EventMessage
from app.sessions.events.subscription import MAX_PENDING_EVENTS, FellBehind, Subscription


def seen(*numbers: int | None, kind: str = "message") -> list[EventMessage]:
    return [EventMessage(n, kind, f"event {n}") for n in numbers]


class Client:
    """Takes what it is pushed while it is `ready`."""

    def __init__(self) -> None:
        self.ready = True
        self.got: list[int | None] = []

    def __call__(self, told: Sequence[EventMessage]) -> bool:
        if self.ready:
            self.got += [one.seq for one in told]
        return self.ready


async def waiting(listener: Subscription) -> "asyncio.Task[list[EventMessage]]":
    """Its `next`, asked for and asleep."""
    task = asyncio.create_task(listener.next_batch())
    await asyncio.sleep(0)
    return task


async def test_what_is_heard_while_nobody_waits_is_next() -> None:
    listener = Subscription(0)
    listener.receive(seen(1, None, 2))
    assert await listener.next_batch() == seen(1, None, 2)
    assert listener.last_number == 2


async def test_what_was_seen_is_dropped_and_a_missing_number_sends_to_the_rows() -> None:
    listener = Subscription(3)
    listener.receive(seen(2, 3, 4, 6))
    assert await listener.next_batch() == seen(4)
    assert await listener.next_batch() == []
    listener.last_number = 6  # read from rows
    listener.receive(seen(6, 7))
    assert await listener.next_batch() == seen(7)


async def test_what_is_heard_by_a_waiting_watcher_is_pushed_and_wakes_nobody() -> None:
    client = Client()
    listener = Subscription(0, client)
    task = await waiting(listener)
    listener.receive(seen(1))
    listener.receive(seen(1, 2, None))
    assert client.got == [1, 2, None]
    assert not task.done()
    listener.mark_behind()
    assert await task == []


async def test_a_client_that_is_not_ready_gets_everything_in_order_by_waiting() -> None:
    client = Client()
    client.ready = False
    listener = Subscription(0, client)
    task = await waiting(listener)
    listener.receive(seen(1))
    client.ready = True
    listener.receive(seen(2))  # must not overtake 1
    assert client.got == []
    assert await task == seen(1)
    assert await listener.next_batch() == seen(2)


async def test_a_gap_is_never_pushed_over() -> None:
    client = Client()
    listener = Subscription(0, client)
    task = await waiting(listener)
    listener.receive(seen(1, 3))
    assert client.got == [1]
    assert await task == []
    assert listener.last_number == 1


async def test_the_last_event_that_is_pushed_ends_the_watch() -> None:
    client = Client()
    listener = Subscription(4, client)
    task = await waiting(listener)
    listener.receive(seen(5, kind="session_finished"))
    assert await task == []
    assert listener.is_complete
    assert client.got == [5]


async def test_a_watcher_that_is_too_far_behind_is_sent_away() -> None:
    listener = Subscription(0)
    listener.receive(seen(*range(1, MAX_PENDING_EVENTS + 1)))
    listener.receive(seen(MAX_PENDING_EVENTS + 1))
    with pytest.raises(FellBehind):
        await listener.next_batch()


def called(call: str, at: int) -> EventMessage:
    return EventMessage(None, "tool_called", f'{{"created_at":"{at}","call":"{call}"}}')


async def test_a_call_that_is_announced_again_comes_once_to_each_watcher() -> None:
    listener, late = Subscription(0), Subscription(0)
    listener.receive([called("a", 1), called("b", 1)])
    for each in (listener, late):
        each.receive([called("a", 2), called("b", 2)])
        each.receive([called("a", 3)])
    assert await listener.next_batch() == [called("a", 1), called("b", 1)]
    assert await late.next_batch() == [called("a", 2), called("b", 2)]


async def test_the_calls_of_a_finished_step_are_forgotten() -> None:
    listener = Subscription(0)
    finished = EventMessage(1, "step_finished", "{}")
    listener.receive([called("a", 1), finished, called("a", 2)])
    assert await listener.next_batch() == [called("a", 1), finished, called("a", 2)]
