"""What is told of sessions through Redis: one connection per process hears it for every watcher."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any
from uuid import UUID

from redis.asyncio.client import PubSub

from app.jobs import REDIS_AWAY
from app.redis_address import open_redis
from app.sessions.events.publisher import channel_name, parse_messages
from app.sessions.events.serialization import EventMessage
from app.tasks import cancel_and_wait

_READY_S = 1.0
"""How long anybody waits for Redis: it may take commands and say nothing."""
_SILENT_S = 10.0

Tell = Callable[[UUID, Sequence[EventMessage]], None]


class EventSubscriber:
    """`redis_url` because a listening connection is no pool's; `tell` is called for whatever is heard."""

    def __init__(self, redis_url: str, tell: Tell) -> None:
        self._redis = open_redis(
            redis_url, socket_connect_timeout=2, socket_timeout=_SILENT_S, health_check_interval=15
        )
        self._tell = tell
        self._pubsub: PubSub | None = None
        self._ready: dict[UUID, asyncio.Event] = {}
        self._reader: asyncio.Task[None] | None = None
        self._subscribing = asyncio.Lock()
        self._errands: set[asyncio.Task[bool]] = set()

    async def close(self) -> None:
        await cancel_and_wait(self._reader, *self._errands)
        if self._pubsub:
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis has no type here
        await self._redis.aclose()

    async def subscribe(self, session_id: UUID) -> None:
        """Return when Redis sends us this session's events; without Redis, rows alone must do."""
        ready = self._ready.setdefault(session_id, asyncio.Event())
        if not ready.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_READY_S):
                    if await self._uncut(self._hear_of([channel_name(session_id)])):
                        await ready.wait()

    async def resubscribe(self) -> None:
        """To what Redis does not send us yet: it may have been away."""
        missing = [channel_name(session_id) for session_id, ready in self._ready.items() if not ready.is_set()]
        if missing and not self._subscribing.locked():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_READY_S):
                    await self._uncut(self._hear_of(missing))

    async def unsubscribe(self, session_id: UUID) -> None:
        self._ready.pop(session_id, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READY_S):
                await self._uncut(self._hear_no_more(session_id))

    async def _hear_of(self, names: Iterable[str]) -> bool:
        """One at a time: two first ones at once would each make a connection, and one is never read."""
        if self._pubsub is None:
            self._pubsub = self._redis.pubsub()
            self._reader = asyncio.create_task(self._read_for_ever(self._pubsub), name="watch")
        with contextlib.suppress(*REDIS_AWAY):
            async with self._subscribing:
                await self._pubsub.subscribe(*names)
                return True
        return False

    async def _hear_no_more(self, session_id: UUID) -> bool:
        with contextlib.suppress(*REDIS_AWAY):
            async with self._subscribing:
                if self._pubsub and session_id not in self._ready:
                    await self._pubsub.unsubscribe(channel_name(session_id))
        return True

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
                    self._take(message["type"], message["channel"].decode(), message["data"])
                elif not pubsub.subscribed and not await self._hear_of(["labcrew:watch"]):
                    await asyncio.sleep(0.2)
            except REDIS_AWAY:
                await asyncio.sleep(0.2)

    def _take(self, kind: str, name: str, data: bytes | int) -> None:
        head, _, session = name.rpartition(":")
        if head != "labcrew:tail":
            return
        session_id = UUID(session)
        if kind == "subscribe" and session_id in self._ready:
            self._ready[session_id].set()
        elif kind == "message" and isinstance(data, bytes):
            self._tell(session_id, parse_messages(data.decode()))
