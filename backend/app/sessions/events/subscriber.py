"""Subscription of a process to the events of its watched sessions, over one connection to Redis."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any
from uuid import UUID

from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from app.jobs import REDIS_AWAY
from app.redis_client import open_redis
from app.sessions.events.publisher import channel_name, parse_messages
from app.sessions.events.serialization import EventMessage
from app.tasks import cancel_and_wait

_COMMAND_TIMEOUT_S = 1.0
"""Limit of waiting for Redis, which may accept commands and not answer. Watchers then rely on rows."""
_SOCKET_TIMEOUT_S = 10.0
"""Limit of one read of the socket: twice the 5 s for which a read waits for a message."""

Dispatch = Callable[[UUID, Sequence[EventMessage]], None]


class EventSubscriber:
    """Receives events and passes them to `dispatch`.

    Takes an address, since a subscribed connection cannot be shared with the pool of a process.
    """

    def __init__(self, redis_url: str, dispatch: Dispatch) -> None:
        self._redis = open_redis(
            redis_url, socket_connect_timeout=2, socket_timeout=_SOCKET_TIMEOUT_S, health_check_interval=15
        )
        # A client that retries connects again within a read, beside a command that does the same: the second
        # connection would replace the first, which nobody closes. `_connect` does it, under the lock.
        self._redis.set_retry(Retry(NoBackoff(), 0, supported_errors=()))
        self._dispatch = dispatch
        self._pubsub: PubSub | None = None
        self._ready: dict[UUID, asyncio.Event] = {}
        self._reader: asyncio.Task[None] | None = None
        self._commanding = asyncio.Lock()
        self._commands: set[asyncio.Task[bool]] = set()

    async def close(self) -> None:
        await cancel_and_wait(self._reader, *self._commands)
        if self._pubsub:
            await self._pubsub.aclose()  # type: ignore[no-untyped-call]  # redis has no type here
        await self._redis.aclose()

    async def subscribe(self, session_id: UUID) -> None:
        """Return when Redis sends the events of a session, or after a second without Redis."""
        ready = self._ready.setdefault(session_id, asyncio.Event())
        if not ready.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COMMAND_TIMEOUT_S):
                    if await self._run_shielded(self._subscribe([channel_name(session_id)])):
                        await ready.wait()

    async def resubscribe(self) -> None:
        """Subscribe to the sessions that Redis does not send yet, since it was away."""
        missing = [channel_name(session_id) for session_id, ready in self._ready.items() if not ready.is_set()]
        # A command that hangs holds the lock: another one would only queue up behind it.
        if missing and not self._commanding.locked():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_COMMAND_TIMEOUT_S):
                    await self._run_shielded(self._subscribe(missing))

    async def unsubscribe(self, session_id: UUID) -> None:
        # Before the command, which then sees whether a new watcher has come meanwhile.
        self._ready.pop(session_id, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_COMMAND_TIMEOUT_S):
                await self._run_shielded(self._unsubscribe(session_id))

    async def _subscribe(self, names: Iterable[str]) -> bool:
        """Subscribe to channels. Return False while Redis is away.

        Under a lock: two first commands at once would open two connections, of which one is never read.
        """
        if self._pubsub is None:
            self._pubsub = self._redis.pubsub()
            self._reader = asyncio.create_task(self._read_for_ever(self._pubsub), name="event-subscriber")
        with contextlib.suppress(*REDIS_AWAY):
            async with self._commanding:
                await self._pubsub.subscribe(*names)
                return True
        return False

    async def _unsubscribe(self, session_id: UUID) -> bool:
        with contextlib.suppress(*REDIS_AWAY):
            async with self._commanding:
                if self._pubsub and session_id not in self._ready:
                    await self._pubsub.unsubscribe(channel_name(session_id))
        return True

    async def _run_shielded(self, command: Coroutine[Any, Any, bool]) -> bool:
        """Run a command to its end even if its watcher leaves.

        A cancelled command closes the connection, which all watchers share.
        """
        task = asyncio.create_task(command)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return await asyncio.shield(task)

    async def _read_for_ever(self, pubsub: PubSub) -> None:
        while True:
            try:
                # A channel that nobody publishes on, so that there is a connection to read from.
                if not pubsub.subscribed and not await self._subscribe(["labcrew:watch"]):
                    await asyncio.sleep(0.2)
                    continue
                await self._connect(pubsub)
                message = await pubsub.get_message(timeout=5.0)
                if message:
                    self._handle(message["type"], message["channel"].decode(), message["data"])
            except REDIS_AWAY:
                # A read that failed may have left half a reply: only a new connection is in step.
                await self._disconnect(pubsub)
                await asyncio.sleep(0.2)

    async def _connect(self, pubsub: PubSub) -> None:
        """Connect again, and subscribe to what was subscribed, if the connection was lost."""
        connection: Any = pubsub.connection  # typed as None by redis
        if not (connection and connection.is_connected):
            async with self._commanding:
                await pubsub.connect()  # type: ignore[no-untyped-call]  # redis has no type here

    async def _disconnect(self, pubsub: PubSub) -> None:
        async with self._commanding:
            connection: Any = pubsub.connection
            if connection:
                await connection.disconnect(nowait=True)

    def _handle(self, kind: str, name: str, data: bytes | int) -> None:
        head, _, session = name.rpartition(":")
        if head != "labcrew:tail":
            return
        session_id = UUID(session)
        if kind == "subscribe" and session_id in self._ready:
            self._ready[session_id].set()
        elif kind == "message" and isinstance(data, bytes):
            self._dispatch(session_id, parse_messages(data.decode()))
