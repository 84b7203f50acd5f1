"""Publication of events through Redis to the processes that watch sessions.

Published events are hints: watchers read rows, so a message that is lost, late or doubled changes nothing.
"""

import asyncio
from uuid import UUID

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection

from app.jobs import REDIS_AWAY
from app.sessions.events.events import TERMINAL, ClarificationAsked, SessionStarted
from app.sessions.events.serialization import EventMessage
from app.tasks import cancel_and_wait

_MAX_WAITING = 10_000
"""Events that wait for Redis before all are dropped: bounds the memory at about 10 MB, at a kilobyte each."""
_PACE_S = 0.005
"""Time in which the events of a channel become one message: too short to notice, long enough for a burst."""


def channel_name(session_id: UUID) -> str:
    return f"labcrew:tail:{session_id}"


CONTROL_CHANNEL = "labcrew:control"
"""Channel of cancelled sessions, so that workers react before the next renewal of a lease."""


_AWAITED_EVENTS = (SessionStarted, ClarificationAsked, *TERMINAL)
_URGENT_KINDS = frozenset(event.model_fields["kind"].default for event in _AWAITED_EVENTS)


class EventPublisher:
    """Publishes in order and in the background. Drops events while Redis is away.

    The first event of a burst is sent at once, and those of the next milliseconds become one message, except
    for those that users wait for. The connection is not of the pool and asks Redis for no replies: reading
    them costs more than sending.
    """

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._pending: dict[str, list[str]] = {}
        self._size = 0
        self._due_channels: set[str] = set()
        self._paced: set[str] = set()
        self._wake_up = asyncio.Event()
        self._connection: AbstractConnection | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="event-publisher")

    async def close(self) -> None:
        await cancel_and_wait(self._task)
        # The end of a session may be among what is left.
        await self._publish(set(self._pending))
        await self._disconnect()

    def publish(self, session_id: UUID, event: EventMessage) -> None:
        """Publish one event of a session."""
        number = "" if event.seq is None else str(event.seq)
        self._enqueue(
            channel_name(session_id), f"{number} {event.kind} {event.data}", event.kind in _URGENT_KINDS
        )

    def announce_change(self, session_id: UUID) -> None:
        self._enqueue(CONTROL_CHANNEL, str(session_id), urgent=True)

    def _enqueue(self, name: str, text: str, urgent: bool) -> None:
        if self._size >= _MAX_WAITING:  # Redis takes nothing
            self._pending, self._size = {}, 0
        self._pending.setdefault(name, []).append(text)
        self._size += 1
        if urgent or name not in self._paced:
            self._schedule({name})

    def _schedule(self, names: set[str]) -> None:
        self._due_channels |= names
        self._wake_up.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake_up.wait()
            self._wake_up.clear()
            due, self._due_channels = self._due_channels, set()
            self._paced |= due
            loop.call_later(_PACE_S, self._end_pace, due)
            await self._publish(due)

    def _end_pace(self, names: set[str]) -> None:
        self._paced -= names
        if more := names & self._pending.keys():
            self._schedule(more)

    async def _publish(self, names: set[str]) -> None:
        messages = {name: self._pending.pop(name) for name in names if name in self._pending}
        if not messages:
            return
        self._size -= sum(map(len, messages.values()))
        try:
            connection = self._connection or await self._connect()
            packed = [
                connection.pack_command("PUBLISH", name, "\n".join(texts)) for name, texts in messages.items()
            ]
            await connection.send_packed_command(
                # A health check would wait for the reply to its PING, and this connection gets none.
                [part for parts in packed for part in parts],
                check_health=False,
            )
        except REDIS_AWAY:
            # Watchers read rows meanwhile: sending these later would only repeat them.
            self._pending, self._size = {}, 0
            await self._disconnect()

    async def _connect(self) -> AbstractConnection:
        connection: AbstractConnection = self._redis.connection_pool.make_connection()  # type: ignore[no-untyped-call]
        await connection.connect()  # type: ignore[no-untyped-call]  # redis has no types here
        await connection.send_command("CLIENT", "REPLY", "OFF")
        self._connection = connection
        return connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.disconnect(nowait=True)


def parse_messages(message: str) -> list[EventMessage]:
    """Parse the events of one message, one per line: JSON text has no line breaks."""
    return [_parse_message(line) for line in message.split("\n")]


def _parse_message(line: str) -> EventMessage:
    number, kind, data = line.split(" ", 2)
    return EventMessage(int(number) if number else None, kind, data)
