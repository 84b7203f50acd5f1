"""Who holds how many open streams, in all API processes: a lease in Redis each, which ends with its process."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.errors import TooMany

log = structlog.get_logger(__name__)

LEASE_S = 90
RENEW_S = 30
_AT_ONCE = 16
"""A thousand streams that end together must not open a thousand connections to Redis."""
_AWAY = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True)
class Place:
    """One of at most `most` (0: any number) that `who` may hold of `what`."""

    what: str
    who: str
    most: int

    @property
    def key(self) -> str:
        return f"places:{self.what}:{self.who}"


class Places:
    """Without Redis everybody is let in, and the log says so."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @asynccontextmanager
    async def hold(self, places: Sequence[Place]) -> AsyncIterator["Held"]:
        """A place of each while the block runs. Raises TooMany, holding none, when one has none left."""
        held = Held(self._redis, [place for place in places if place.most], uuid4().hex, self._turns)
        await held.take()
        try:
            yield held
        finally:
            await held.leave()


@dataclass(frozen=True)
class Held:
    """Renew it every RENEW_S."""

    redis: Redis
    places: Sequence[Place]
    ticket: str
    turns: asyncio.Semaphore

    async def take(self) -> None:
        counts = await self._write()
        for place in self.places:
            if counts.get(place.key, 0) > place.most:
                await self.leave()
                raise TooMany(
                    "too_many_streams",
                    f"{place.most:,} {place.what} are open already. Close one first.",
                    limit=place.most,
                    retry_after_s=RENEW_S,
                )

    async def renew(self) -> None:
        await self._write()

    async def leave(self) -> None:
        if not self.places:
            return
        try:
            async with self.turns, self.redis.pipeline(transaction=False) as pipe:
                for place in self.places:
                    pipe.zrem(place.key, self.ticket)
                await pipe.execute()
        except _AWAY:
            log.warning("places_unavailable")

    async def _write(self) -> Mapping[str, int]:
        """How many hold each, this one included."""
        if not self.places:
            return {}
        now = time.time()
        try:
            async with self.turns, self.redis.pipeline(transaction=True) as pipe:
                for place in self.places:
                    pipe.zremrangebyscore(place.key, 0, now)
                    pipe.zadd(place.key, {self.ticket: now + LEASE_S})
                    pipe.expire(place.key, LEASE_S)
                    pipe.zcard(place.key)
                answers = await pipe.execute()
        except _AWAY:
            log.warning("places_unavailable")
            return {}
        return {place.key: answers[4 * i + 3] for i, place in enumerate(self.places)}
