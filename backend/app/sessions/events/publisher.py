"""The event tail: what has just been written or shown, pushed through Redis to whoever watches.

The tail is a hint. A message that is lost, late or doubled changes nothing: watchers read rows.
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
_PACE_S = 0.005


def channel_name(session_id: UUID) -> str:
    return f"labcrew:tail:{session_id}"


CONTROL_CHANNEL = "labcrew:control"
"""Where a cancel is announced, so that nobody has to wait for the next renewal."""


_WAITED_FOR = (SessionStarted, ClarificationAsked, *TERMINAL)
_URGENT = frozenset(event.model_fields["kind"].default for event in _WAITED_FOR)


class EventPublisher:
    """Publishes in order and in the background; what Redis does not take is dropped.

    A session's burst is sent at a pace: its first event goes at once, and what it shows within the next
    milliseconds becomes one message, unless somebody waits for it. The tail has a connection of its own that
    asks Redis for no replies: they cost more than the rest.
    """

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._waiting: dict[str, list[str]] = {}
        self._size = 0
        self._due: set[str] = set()
        self._resting: set[str] = set()
        self._bell = asyncio.Event()
        self._line: AbstractConnection | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._publish_for_ever(), name="tail")

    async def close(self) -> None:
        await cancel_and_wait(self._task)
        await self._publish(set(self._waiting))
        await self._hang_up()

    def publish(self, session_id: UUID, sighting: EventMessage) -> None:
        """Push one event."""
        number = "" if sighting.seq is None else str(sighting.seq)
        self._enqueue(
            channel_name(session_id), f"{number} {sighting.kind} {sighting.data}", sighting.kind in _URGENT
        )

    def announce_cancel(self, session_id: UUID) -> None:
        self._enqueue(CONTROL_CHANNEL, str(session_id), urgent=True)

    def _enqueue(self, name: str, text: str, urgent: bool) -> None:
        if self._size >= _MAX_WAITING:  # Redis takes nothing
            self._waiting, self._size = {}, 0
        self._waiting.setdefault(name, []).append(text)
        self._size += 1
        if urgent or name not in self._resting:
            self._send_soon({name})

    def _send_soon(self, names: set[str]) -> None:
        self._due |= names
        self._bell.set()

    async def _publish_for_ever(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._bell.wait()
            self._bell.clear()
            due, self._due = self._due, set()
            self._resting |= due
            loop.call_later(_PACE_S, self._rested, due)
            await self._publish(due)

    def _rested(self, names: set[str]) -> None:
        self._resting -= names
        if more := names & self._waiting.keys():
            self._send_soon(more)

    async def _publish(self, names: set[str]) -> None:
        messages = {name: self._waiting.pop(name) for name in names if name in self._waiting}
        if not messages:
            return
        self._size -= sum(map(len, messages.values()))
        try:
            line = self._line or await self._call()
            packed = [line.pack_command("PUBLISH", name, "\n".join(told)) for name, told in messages.items()]
            await line.send_packed_command([part for parts in packed for part in parts], check_health=False)
        except REDIS_AWAY:
            self._waiting, self._size = {}, 0
            await self._hang_up()

    async def _call(self) -> AbstractConnection:
        line: AbstractConnection = self._redis.connection_pool.make_connection()  # type: ignore[no-untyped-call]
        await line.connect()  # type: ignore[no-untyped-call]  # redis has no types here
        await line.send_command("CLIENT", "REPLY", "OFF")
        self._line = line
        return line

    async def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line:
            await line.disconnect(nowait=True)


def parse_messages(message: str) -> list[EventMessage]:
    """The events of one message; JSON text has no line break."""
    return [_parse_line(line) for line in message.split("\n")]


def _parse_line(line: str) -> EventMessage:
    number, kind, data = line.split(" ", 2)
    return EventMessage(int(number) if number else None, kind, data)
