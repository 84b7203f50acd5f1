"""Watch sessions: rows say what happened, and one connection to Redis per process says at once that it did.

A watcher first listens and then reads rows, so nothing falls between; it drops what it has seen, and reads rows
again when a number is missing. Every few seconds one statement asks for all watched sessions whether somebody
has missed something.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from app.db.pool import Database
from app.sessions.events.events import SessionQueued
from app.sessions.events.serialization import EventMessage, dump_event, make_event_message
from app.sessions.events.subscriber import EventSubscriber
from app.sessions.events.subscription import TERMINAL_KINDS, Push, Subscription
from app.sessions.statements import VIEWS
from app.tasks import cancel_and_wait

log = logging.getLogger(__name__)

_LOOK_EVERY_S = 3.0
_PAGE = 500


class EventStreams:
    """One per process."""

    def __init__(self, redis_url: str, db: Database) -> None:
        self._db = db
        self._ear = EventSubscriber(redis_url, self._tell)
        self._listeners: dict[UUID, set[Subscription]] = {}
        self._patrol: asyncio.Task[None] | None = None

    async def close(self) -> None:
        await cancel_and_wait(self._patrol)
        await self._ear.close()

    async def subscribe(self, session_id: UUID, since: int = 0) -> AsyncGenerator[EventMessage, None]:
        """What happened after event `since` and what happens from now on, until the session has ended.

        Durable events come once each and in order; live ones as they come, if they come. Raises FellBehind.
        """
        async with contextlib.aclosing(self.stream_batches(session_id, since)) as batches:
            async for batch in batches:
                for seen in batch:
                    yield seen

    async def stream_batches(
        self, session_id: UUID, since: int = 0, push: Push | None = None
    ) -> AsyncGenerator[list[EventMessage], None]:
        """`subscribe`, with all that is there at a time in one list, which is cheaper to send on.

        With `push`, most events go there the moment they are heard, and do not come here: what comes here was
        before them, or did not fit.
        """
        async with self._listening(session_id, Subscription(since, push)) as listener:
            while True:
                if rows := await self._rows(session_id, listener.last_number):
                    yield rows
                    listener.last_number = rows[-1].n or listener.last_number
                    if rows[-1].kind in TERMINAL_KINDS:
                        return
                    if len(rows) == _PAGE:
                        continue
                else:
                    stands = await self._db.row(VIEWS.stream_position, session_id)
                    if stands is None or (stands["ended"] and listener.last_number >= stands["event_seq"]):
                        return
                    if stands["in_line"]:
                        _say_place(listener, *stands["in_line"])
                while batch := await listener.next_batch():
                    yield batch
                    if batch[-1].kind in TERMINAL_KINDS:
                        return
                if listener.is_complete:
                    return

    async def _rows(self, session_id: UUID, since: int) -> list[EventMessage]:
        rows = await self._db.rows(VIEWS.events_after, session_id, since, _PAGE)
        return [make_event_message(row["n"], row["at"], row["kind"], row["body"]) for row in rows]

    @contextlib.asynccontextmanager
    async def _listening(self, session_id: UUID, listener: Subscription) -> AsyncIterator[Subscription]:
        self._patrol = self._patrol or asyncio.create_task(self._patrol_for_ever(), name="patrol")
        self._listeners.setdefault(session_id, set()).add(listener)
        try:
            await self._ear.subscribe(session_id)
            yield listener
        finally:
            self._listeners[session_id].discard(listener)
            if not self._listeners[session_id]:
                del self._listeners[session_id]
                await self._ear.unsubscribe(session_id)

    def _tell(self, session_id: UUID, heard: Sequence[EventMessage]) -> None:
        for listener in self._listeners.get(session_id, ()):
            listener.receive(heard)

    async def _patrol_for_ever(self) -> None:
        """The tail is a hint: what it lost is found here. While Postgres is away, nobody is sent away."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                await self._ear.resubscribe()
                if self._listeners:
                    await self._look_after_all()
            except Exception:
                log.warning("watched sessions could not be looked at", exc_info=True)

    async def _look_after_all(self) -> None:
        """Asks only what is new: for a thousand watchers, an answer of a thousand rows holds up the events."""
        stand = [(session_id, *_least(heard)) for session_id, heard in self._listeners.items()]
        for row in await self._db.rows(VIEWS.streams_behind, *zip(*stand, strict=True)):
            for listener in self._listeners.get(row["id"], ()):
                if row["behind"]:
                    listener.mark_behind()
                elif row["place"]:
                    _say_place(listener, row["place"], row["length"])
                else:
                    listener.queue_position = None


def _least(listeners: Collection[Subscription]) -> tuple[int, int | None, int | None]:
    """What all watchers of a session have seen, and the place in the line that all were told."""
    places = {listener.queue_position for listener in listeners}
    place, length = (len(places) == 1 and places.pop()) or (None, None)
    return min(listener.last_number for listener in listeners), place, length


def _say_place(listener: Subscription, place: int, length: int) -> None:
    if listener.queue_position != (place, length):
        listener.queue_position = (place, length)
        event = SessionQueued(place=place, of=length)
        listener.receive([make_event_message(None, datetime.now(UTC), event.kind, dump_event(event))])
