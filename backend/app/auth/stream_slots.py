"""Limits of open streams over all API processes: a distributed semaphore of leases in Redis.

The leases of a killed process expire by themselves.
"""

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
"""Time after which the slots of a killed process are free again."""
RENEW_S = 30
"""A third of a lease, so that two renewals may fail."""
_MAX_REDIS_CONNECTIONS = 16
"""A thousand streams that end together must not open a thousand connections to Redis."""
_REDIS_ERRORS = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True)
class StreamLimit:
    """A limit of `max_streams` (0: none) for a subject (user or address)."""

    resource: str
    subject: str
    max_streams: int

    @property
    def key(self) -> str:
        return f"places:{self.resource}:{self.subject}"


class StreamSlots:
    """Hold stream slots. Without Redis every stream is admitted, with a warning.

    One task renews all leases of the process: a thousand streams cost one round trip.
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
        """Hold a slot of each limit during the block. Raises TooMany, holding none, when one is exhausted."""
        limited = [limit for limit in limits if limit.max_streams]
        ticket = uuid4().hex
        try:
            # Inside: a stream that is refused has taken its leases already.
            await self._acquire(limited, ticket)
            yield
        finally:
            await self._remove_leases(limited, ticket)

    async def renew(self) -> None:
        """Renew all leases, and remove those of streams that end during the renewal."""
        until = time.time() + LEASE_S
        renewed = {key: set(tickets) for key, tickets in self._leases.items()}
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for key, tickets in renewed.items():
                    # Also brings back what a restart of Redis has lost.
                    pipe.zadd(key, dict.fromkeys(tickets, until))
                    pipe.expire(key, LEASE_S)
                await pipe.execute()
                for key, tickets in renewed.items():
                    if ended := tickets - self._leases.get(key, set()):
                        pipe.zrem(key, *ended)
                await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            await self.renew()

    async def _acquire(self, limits: Sequence[StreamLimit], ticket: str) -> None:
        counts = await self._add_leases(limits, ticket)
        for limit in limits:
            if counts.get(limit.key, 0) > limit.max_streams:
                raise TooMany(
                    "too_many_streams",
                    f"{limit.max_streams:,} {limit.resource} are open already. Close one first.",
                    limit=limit.max_streams,
                    retry_after_s=RENEW_S,
                )

    async def _add_leases(self, limits: Sequence[StreamLimit], ticket: str) -> Mapping[str, int]:
        """Add a lease to each limit; return the number of leases by key, including the new ones."""
        now = time.time()
        for limit in limits:
            self._leases[limit.key].add(ticket)
        try:
            async with self._redis_slots, self._redis.pipeline(transaction=True) as pipe:
                for limit in limits:
                    # What killed processes left goes first, so that it does not count.
                    pipe.zremrangebyscore(limit.key, 0, now)
                    pipe.zadd(limit.key, {ticket: now + LEASE_S})
                    pipe.expire(limit.key, LEASE_S)
                    pipe.zcard(limit.key)
                answers = await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")
            return {}
        return {limit.key: answers[4 * i + 3] for i, limit in enumerate(limits)}

    async def _remove_leases(self, limits: Sequence[StreamLimit], ticket: str) -> None:
        # Here first, so that a renewal does not bring the lease back.
        for limit in limits:
            self._leases[limit.key].discard(ticket)
            if not self._leases[limit.key]:
                del self._leases[limit.key]
        try:
            async with self._redis_slots, self._redis.pipeline(transaction=False) as pipe:
                for limit in limits:
                    pipe.zrem(limit.key, ticket)
                await pipe.execute()
        except _REDIS_ERRORS:
            log.warning("places_unavailable")
