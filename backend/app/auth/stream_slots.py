"""Who holds how many open streams, in all API processes: a lease in Redis each, which ends with its process."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.errors import TooMany
from app.tasks import cancel_and_wait

log = structlog.get_logger(__name__)

LEASE_S = 90
RENEW_S = 30
_MAX_REDIS_CONNECTIONS = 16
"""A thousand streams that end together must not open a thousand connections to Redis."""
_REDIS_ERRORS = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True)
class StreamLimit:
    """One of at most `most` (0: any number) that `who` may hold of `what`."""

    resource: str
    subject: str
    max_streams: int

    @property
    def key(self) -> str:
        return f"places:{self.resource}:{self.subject}"


class StreamSlots:
    """Without Redis everybody is let in, and the log says so.

    One task renews whatever this process holds: a thousand streams cost a round trip, not one each.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._redis_slots = asyncio.Semaphore(_MAX_REDIS_CONNECTIONS)
        self._leases: defaultdict[str, set[str]] = defaultdict(set)
        self._renewal: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._renewal = asyncio.create_task(self._renew_for_ever(), name="places")

    async def close(self) -> None:
        await cancel_and_wait(self._renewal)

    @asynccontextmanager
    async def hold(self, limits: Sequence[StreamLimit]) -> AsyncIterator[None]:
        """A place of each while the block runs. Raises TooMany, holding none, when one has none left."""
        limited = [place for place in limits if place.max_streams]
        ticket = uuid4().hex
        try:
            await self._acquire(limited, ticket)
            yield
        finally:
            await self._remove_leases(limited, ticket)

    async def renew(self) -> None:
        """Who leaves meanwhile is taken out again."""
        until = time.time() + LEASE_S
        told = {key: set(tickets) for key, tickets in self._leases.items()}
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for key, tickets in told.items():
                    pipe.zadd(key, dict.fromkeys(tickets, until))
                    pipe.expire(key, LEASE_S)
                await pipe.execute()
                for key, tickets in told.items():
                    if left := tickets - self._leases.get(key, set()):
                        pipe.zrem(key, *left)
                await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await self.renew()

    async def _acquire(self, places: Sequence[StreamLimit], ticket: str) -> None:
        counts = await self._add_leases(places, ticket)
        for place in places:
            if counts.get(place.key, 0) > place.max_streams:
                raise TooMany(
                    "too_many_streams",
                    f"{place.max_streams:,} {place.resource} are open already. Close one first.",
                    limit=place.max_streams,
                    retry_after_s=RENEW_S,
                )

    async def _add_leases(self, places: Sequence[StreamLimit], ticket: str) -> Mapping[str, int]:
        """How many hold each, this one included."""
        now = time.time()
        for place in places:
            self._leases[place.key].add(ticket)
        try:
            async with self._redis_slots, self._redis.pipeline(transaction=True) as pipe:
                for place in places:
                    pipe.zremrangebyscore(place.key, 0, now)
                    pipe.zadd(place.key, {ticket: now + LEASE_S})
                    pipe.expire(place.key, LEASE_S)
                    pipe.zcard(place.key)
                answers = await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")
            return {}
        return {place.key: answers[4 * i + 3] for i, place in enumerate(places)}

    async def _remove_leases(self, places: Sequence[StreamLimit], ticket: str) -> None:
        for place in places:
            self._leases[place.key].discard(ticket)
            if not self._leases[place.key]:
                del self._leases[place.key]
        try:
            async with self._redis_slots, self._redis.pipeline(transaction=False) as pipe:
                for place in places:
                    pipe.zrem(place.key, ticket)
                await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")
