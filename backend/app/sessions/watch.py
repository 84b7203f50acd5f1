"""Watch sessions: one Redis connection per process feeds every watcher of it.

A watcher first listens and then reads rows, so nothing falls between; it drops what it has seen, and reads rows
again when a number is missing and every few seconds.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from app.db.pool import Database
from app.errors import TooMany
from app.jobs import REDIS_AWAY
from app.sessions.events import TERMINAL, SessionQueued
from app.sessions.tail import channel, parse
from app.sessions.wire import Sighting, event_body, sighting
from app.tasks import stop

_READ_AGAIN_S = 3.0
_PAGE = 500
_MOST_BEHIND = 2000

_TERMINAL_KINDS = frozenset(event.model_fields["kind"].default for event in TERMINAL)

_ROWS = """
select n, at, kind, body from events where session_id = $1 and n > $2 order by n limit 500
"""
_STANDS = """
select event_seq, ended_at is not null as ended,
  case when ended_at is null and admitted_at is null and wake > seen then
    (select array[place, length] from session_line where id = s.id) end as in_line
from sessions s where id = $1
"""


class FellBehind(TooMany):
    """The watcher reads too slowly: it should come back with its cursor."""


@dataclass(eq=False)
class _Listener:
    """One watcher's ear on the tail."""

    heard: deque[Sighting] = field(default_factory=deque)
    bell: asyncio.Event = field(default_factory=asyncio.Event)
    overrun: bool = False

    def hear(self, seen: list[Sighting]) -> None:
        if len(self.heard) + len(seen) > _MOST_BEHIND:
            self.overrun = True
        else:
            self.heard.extend(seen)
        self.bell.set()

    async def next(self, seen: int, until: float) -> list[Sighting]:
        """What comes after event `seen`; nothing when a number is missing, or at time `until`: read rows then.

        Raises FellBehind.
        """
        while not self.overrun:
            batch, complete = self._in_order(seen)
            if batch or not complete:
                return batch
            self.bell.clear()
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    await self.bell.wait()
            except TimeoutError:
                return []
        raise FellBehind("fell_behind", "The stream was read too slowly; come back with the last cursor.")

    def _in_order(self, seen: int) -> tuple[list[Sighting], bool]:
        """What was heard and is next, and False where a number is missing: what comes after is in the rows."""
        batch: list[Sighting] = []
        while self.heard:
            one = self.heard.popleft()
            if one.n is not None and one.n > seen + 1:
                return batch, False
            if one.n is None or one.n == seen + 1:
                batch.append(one)
                seen = one.n or seen
        return batch, True


def _in_line(place: int, length: int) -> Sighting:
    event = SessionQueued(place=place, of=length)
    return sighting(None, datetime.now(UTC), event.kind, event_body(event))


class Watch:
    """One per process; `redis_url` because a listening connection is no pool's."""

    def __init__(self, redis_url: str, db: Database) -> None:
        self._redis = Redis.from_url(redis_url, socket_connect_timeout=2, health_check_interval=15)
        self._pubsub: PubSub | None = None
        self._db = db
        self._listeners: dict[UUID, set[_Listener]] = {}
        self._ready: dict[UUID, asyncio.Event] = {}
        self._reader: asyncio.Task[None] | None = None
        self._subscribing = asyncio.Lock()
        self._errands: set[asyncio.Task[bool]] = set()

    async def close(self) -> None:
        await stop(self._reader, *self._errands)
        if self._pubsub:
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis has no type here
        await self._redis.aclose()

    async def subscribe(self, session_id: UUID, since: int = 0) -> AsyncGenerator[Sighting, None]:
        """What happened after event `since` and what happens from now on, until the session has ended.

        Durable events come once each and in order; live ones as they come, if they come. Raises FellBehind.
        """
        async with contextlib.aclosing(self.batches(session_id, since)) as batches:
            async for batch in batches:
                for seen in batch:
                    yield seen

    async def batches(self, session_id: UUID, since: int = 0) -> AsyncGenerator[list[Sighting], None]:
        """`subscribe`, with all that is there at a time in one list, which is cheaper to send on."""
        async with self._listening(session_id) as listener:
            seen, told = since, None
            while True:
                rows = await self._rows(session_id, seen)
                if rows:
                    yield rows
                    seen = rows[-1].n or seen
                    if rows[-1].kind in _TERMINAL_KINDS:
                        return
                else:
                    stands = await self._db.row(_STANDS, session_id)
                    if stands is None or (stands["ended"] and seen >= stands["event_seq"]):
                        return
                    if stands["in_line"] and stands["in_line"] != told:
                        told = stands["in_line"]
                        yield [_in_line(*told)]
                if len(rows) == _PAGE:
                    continue
                until = time.monotonic() + _READ_AGAIN_S
                while batch := await listener.next(seen, until):
                    yield batch
                    seen = max(seen, *(one.n or 0 for one in batch))
                    if batch[-1].kind in _TERMINAL_KINDS:
                        return
                await self._tune_in(session_id)  # Redis may have been away before

    async def _rows(self, session_id: UUID, since: int) -> list[Sighting]:
        rows = await self._db.rows(_ROWS, session_id, since)
        return [sighting(row["n"], row["at"], row["kind"], row["body"]) for row in rows]

    @contextlib.asynccontextmanager
    async def _listening(self, session_id: UUID) -> AsyncIterator[_Listener]:
        listener = _Listener()
        self._listeners.setdefault(session_id, set()).add(listener)
        try:
            await self._tune_in(session_id)
            yield listener
        finally:
            self._listeners[session_id].discard(listener)
            if not self._listeners[session_id]:
                del self._listeners[session_id]
                self._ready.pop(session_id, None)
                await self._uncut(self._tune_out(session_id))

    async def _tune_in(self, session_id: UUID) -> None:
        """Return when Redis sends us this session's events; without Redis, rows alone must do."""
        ready = self._ready.setdefault(session_id, asyncio.Event())
        if self._reader is None:
            self._pubsub = self._redis.pubsub()
            self._reader = asyncio.create_task(self._read_for_ever(self._pubsub), name="watch")
        if not ready.is_set() and await self._uncut(self._hear_of(self._pubsub, channel(session_id))):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await ready.wait()

    async def _tune_out(self, session_id: UUID) -> bool:
        with contextlib.suppress(*REDIS_AWAY):
            async with self._subscribing:
                if self._pubsub and session_id not in self._listeners:
                    await self._pubsub.unsubscribe(channel(session_id))
        return True

    async def _hear_of(self, pubsub: PubSub | None, name: str) -> bool:
        """One at a time: two first ones at once would each make a connection, and one is never read."""
        with contextlib.suppress(*REDIS_AWAY):
            async with self._subscribing:
                if pubsub:
                    await pubsub.subscribe(name)
                    return True
        return False

    async def _uncut(self, errand: Coroutine[Any, Any, bool]) -> bool:
        """Runs to its end even when its watcher leaves: a command that is cut loses the connection of all."""
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return await asyncio.shield(task)

    async def _read_for_ever(self, pubsub: PubSub) -> None:
        while True:
            try:
                message = await pubsub.get_message(timeout=5.0) if pubsub.subscribed else None
                if message:
                    self._tell(message["type"], message["channel"].decode(), message["data"])
                elif not pubsub.subscribed and not await self._hear_of(pubsub, "labcrew:watch"):
                    await asyncio.sleep(0.2)
            except REDIS_AWAY:
                await asyncio.sleep(0.2)

    def _tell(self, kind: str, name: str, data: bytes | int) -> None:
        head, _, session = name.rpartition(":")
        if head != "labcrew:tail":
            return
        session_id = UUID(session)
        if kind == "subscribe" and session_id in self._ready:
            self._ready[session_id].set()
        elif kind == "message" and isinstance(data, bytes):
            heard = parse(data.decode())
            for listener in self._listeners.get(session_id, ()):
                listener.hear(heard)
