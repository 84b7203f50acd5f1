"""The event tail: what has just been written or shown, pushed through Redis to whoever watches.

The tail is a hint. A message that is lost, late or doubled changes nothing: watchers read rows.
"""

import asyncio
from collections import deque
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.sessions.background import stop
from app.sessions.wire import Sighting

_MOST_WAITING = 10_000


def channel(session_id: UUID) -> str:
    return f"labcrew:tail:{session_id}"


CONTROL = "labcrew:control"
"""Where a cancel is announced, so that nobody has to wait for the next renewal."""


class Tail:
    """Publishes in order and in the background; what Redis does not take is dropped."""

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._waiting: deque[tuple[str, str]] = deque(maxlen=_MOST_WAITING)
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._publish_for_ever(), name="tail")

    async def close(self) -> None:
        await stop(self._task)
        await self._publish_waiting()

    def show(self, session_id: UUID, sighting: Sighting) -> None:
        """Push one event; a live one has no number and goes before the JSON as an empty one."""
        number = "" if sighting.n is None else str(sighting.n)
        self._put(channel(session_id), f"{number} {sighting.kind} {sighting.data}")

    def announce_cancel(self, session_id: UUID) -> None:
        self._put(CONTROL, str(session_id))

    def _put(self, name: str, message: str) -> None:
        self._waiting.append((name, message))
        self._bell.set()

    async def _publish_for_ever(self) -> None:
        while True:
            await self._bell.wait()
            self._bell.clear()
            await self._publish_waiting()

    async def _publish_waiting(self) -> None:
        while self._waiting:
            pipeline = self._redis.pipeline(transaction=False)
            while self._waiting:
                pipeline.publish(*self._waiting.popleft())
            try:
                await pipeline.execute()
            except (RedisError, OSError):
                self._waiting.clear()


def parse(message: str) -> Sighting:
    number, kind, data = message.split(" ", 2)
    return Sighting(int(number) if number else None, kind, data)
