"""Live streams of sessions' events: rows are the source, and Redis announces at once that there are new ones.

A watcher subscribes first and then reads rows, so that no event is missed; it drops duplicates, and reads rows
again where a number is missing. Every few seconds one statement checks all watched sessions for missed events.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from app.db.former_field_names import current_event
from app.db.pool import Database
from app.sessions.events.events import SessionQueued
from app.sessions.events.serialization import EventMessage, dump_event, make_event_message
from app.sessions.events.subscriber import EventSubscriber
from app.sessions.events.subscription import TERMINAL_KINDS, Push, Subscription
from app.sessions.statements import VIEWS
from app.tasks import cancel_and_wait

log = logging.getLogger(__name__)

_CHECK_INTERVAL_S = 3.0
"""Delay of an event whose announcement was lost, in seconds: noticeable to a user, cheap for the database."""
_PAGE = 500
"""Events per statement: most sessions have fewer, so one statement reads them all."""


class StoredEvent(NamedTuple):
    """`body`: JSON."""

    n: int
    at: datetime
    kind: str
    body: str


class PositionRow(NamedTuple):
    """The end of a session's events. `queue`: (place, length) in the admission queue, None outside of it."""

    id: UUID
    event_seq: int
    ended: bool
    queue: tuple[int, int] | None


class ChangeRow(NamedTuple):
    """A watched session with news: `behind`: there are newer rows, or a new place in the queue."""

    id: UUID
    behind: bool
    place: int | None
    length: int | None


class EventStreams:
    """The streams of one process, over one connection to Redis."""

    def __init__(self, redis_url: str, db: Database) -> None:
        self._db = db
        self._subscriber = EventSubscriber(redis_url, self._dispatch)
        self._subscriptions: dict[UUID, set[Subscription]] = {}
        self._checker: asyncio.Task[None] | None = None

    async def close(self) -> None:
        await cancel_and_wait(self._checker)
        await self._subscriber.close()

    async def subscribe(self, session_id: UUID, since: int = 0) -> AsyncGenerator[EventMessage, None]:
        """Yield the events after number `since`, past and future, until the session has ended.

        Durable events come once each and in order; live ones are best effort. Raises FellBehind.
        """
        async with contextlib.aclosing(self.stream_batches(session_id, since)) as batches:
            async for batch in batches:
                for message in batch:
                    yield message

    async def stream_batches(
        self, session_id: UUID, since: int = 0, push: Push | None = None
    ) -> AsyncGenerator[list[EventMessage], None]:
        """Yield what `subscribe` does in lists of all that is available, which are cheaper to send on.

        With `push`, most events go there when they are received, and are not yielded: only those before them
        and those that did not fit are.
        """
        async with self._subscribed(session_id, Subscription(since, push)) as subscription:
            while True:
                if rows := await self._read_events(session_id, subscription.last_number):
                    yield rows
                    subscription.last_number = rows[-1].seq or subscription.last_number
                    if rows[-1].kind in TERMINAL_KINDS:
                        return
                    # A full page: there may be more rows, and the tail is of use only after the last.
                    if len(rows) == _PAGE:
                        continue
                elif await self._is_finished(session_id, subscription):
                    return
                while batch := await subscription.next_batch():
                    yield batch
                    if batch[-1].kind in TERMINAL_KINDS:
                        return
                if subscription.is_complete:
                    return

    async def _is_finished(self, session_id: UUID, subscription: Subscription) -> bool:
        """Check if no further event can come. Announces the place of a session in the admission queue."""
        row = await self._db.row(VIEWS.stream_position, session_id)
        if row is None:
            return True
        position = PositionRow(**row)
        if position.queue:
            _announce_position(subscription, *position.queue)
        return position.ended and subscription.last_number >= position.event_seq

    async def _read_events(self, session_id: UUID, since: int) -> list[EventMessage]:
        rows = await self._db.rows(VIEWS.events_after, session_id, since, _PAGE)
        events = (StoredEvent(**row) for row in rows)
        return [
            make_event_message(event.n, event.at, event.kind, current_event(event.kind, event.body))
            for event in events
        ]

    @contextlib.asynccontextmanager
    async def _subscribed(self, session_id: UUID, subscription: Subscription) -> AsyncIterator[Subscription]:
        self._checker = self._checker or asyncio.create_task(self._check_for_ever(), name="event-checks")
        # Listed before Redis is asked: the first event may come with its reply.
        self._subscriptions.setdefault(session_id, set()).add(subscription)
        try:
            await self._subscriber.subscribe(session_id)
            yield subscription
        finally:
            self._subscriptions[session_id].discard(subscription)
            if not self._subscriptions[session_id]:
                del self._subscriptions[session_id]
                await self._subscriber.unsubscribe(session_id)

    def _dispatch(self, session_id: UUID, messages: Sequence[EventMessage]) -> None:
        for subscription in self._subscriptions.get(session_id, ()):
            subscription.receive(messages)

    async def _check_for_ever(self) -> None:
        """Look for events whose announcement was lost. Streams stay open while Postgres is away."""
        while True:
            await asyncio.sleep(_CHECK_INTERVAL_S)
            try:
                await self._subscriber.resubscribe()
                if self._subscriptions:
                    await self._check_all()
            except Exception:
                log.warning("watched sessions could not be checked for missed events", exc_info=True)

    async def _check_all(self) -> None:
        """Notify the watchers of sessions with news.

        The statement leaves out all others: a thousand rows per check would delay the events.
        """
        positions = [(session_id, *_summarize(group)) for session_id, group in self._subscriptions.items()]
        for row in await self._db.rows(VIEWS.streams_behind, *zip(*positions, strict=True)):
            change = ChangeRow(**row)
            for subscription in self._subscriptions.get(change.id, ()):
                if change.behind:
                    subscription.mark_behind()
                elif change.place and change.length:
                    _announce_position(subscription, change.place, change.length)
                # It has left the queue: if it comes back, even the same place is news.
                else:
                    subscription.queue_position = None


def _summarize(subscriptions: Collection[Subscription]) -> tuple[int, int | None, int | None]:
    """Return the highest event number that every watcher of a session has, and their common queue position."""
    positions = {subscription.queue_position for subscription in subscriptions}
    # Watchers that differ send none, which the statement takes for news and so tells all of them.
    place, length = (len(positions) == 1 and positions.pop()) or (None, None)
    return min(subscription.last_number for subscription in subscriptions), place, length


def _announce_position(subscription: Subscription, place: int, length: int) -> None:
    if subscription.queue_position != (place, length):
        subscription.queue_position = (place, length)
        event = SessionQueued(position=place, length=length)
        subscription.receive([make_event_message(None, datetime.now(UTC), event.kind, dump_event(event))])
