"""The event tail: what has just been written or shown, pushed through Redis to whoever watches.

The tail is a hint. A message that is lost, late or doubled changes nothing: watchers read rows.
"""

import asyncio
from collections import deque
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.sessions.background import stop
from app.sessions.events import TERMINAL, ClarificationAsked, SessionStarted
from app.sessions.wire import Sighting

_MOST_WAITING = 10_000
_PACE_S = 0.005


def channel(session_id: UUID) -> str:
    return f"labcrew:tail:{session_id}"


CONTROL = "labcrew:control"
"""Where a cancel is announced, so that nobody has to wait for the next renewal."""


_URGENT = frozenset(
    event.model_fields["kind"].default for event in (SessionStarted, ClarificationAsked, *TERMINAL)
)


class Tail:
    """Publishes in order and in the background; what Redis does not take is dropped.

    A burst is sent at a pace: what a session shows within some milliseconds becomes one message, unless somebody
    waits for it.
    """

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._waiting: deque[tuple[str, str]] = deque(maxlen=_MOST_WAITING)
        self._bell = asyncio.Event()
        self._urgent = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._publish_for_ever(), name="tail")

    async def close(self) -> None:
        await stop(self._task)
        await self._publish_waiting()

    def show(self, session_id: UUID, sighting: Sighting) -> None:
        """Push one event."""
        number = "" if sighting.n is None else str(sighting.n)
        self._put(channel(session_id), f"{number} {sighting.kind} {sighting.data}", sighting.kind in _URGENT)

    def announce_cancel(self, session_id: UUID) -> None:
        self._put(CONTROL, str(session_id), urgent=True)

    def _put(self, name: str, line: str, urgent: bool) -> None:
        self._waiting.append((name, line))
        self._bell.set()
        if urgent:
            self._urgent.set()

    async def _publish_for_ever(self) -> None:
        while True:
            await self._bell.wait()
            self._bell.clear()
            self._urgent.clear()
            await self._publish_waiting()
            try:
                async with asyncio.timeout(_PACE_S):
                    await self._urgent.wait()
            except TimeoutError:
                continue

    async def _publish_waiting(self) -> None:
        while self._waiting:
            messages: dict[str, list[str]] = {}
            while self._waiting:
                name, line = self._waiting.popleft()
                messages.setdefault(name, []).append(line)
            pipeline = self._redis.pipeline(transaction=False)
            for name, lines in messages.items():
                pipeline.publish(name, "\n".join(lines))
            try:
                await pipeline.execute()
            except (RedisError, OSError):
                self._waiting.clear()


def parse(message: str) -> list[Sighting]:
    """The events of one message; JSON text has no line break."""
    return [_parse_line(line) for line in message.split("\n")]


def _parse_line(line: str) -> Sighting:
    number, kind, data = line.split(" ", 2)
    return Sighting(int(number) if number else None, kind, data)
