"""Announcement of revocations to all API processes, which then drop their caches of the user."""

import asyncio
from uuid import UUID

import structlog
from redis.asyncio import Redis

from app.auth.authenticator import Authenticator
from app.jobs import REDIS_AWAY
from app.tasks import cancel_and_wait

log = structlog.get_logger(__name__)

CHANNEL = "labcrew:revoked"
_RECONNECT_PAUSE_S = 0.5
"""Pause before listening again; short, since revocations are missed meanwhile."""


class Revocations:
    """Listen for other processes' revocations. Without Redis each process sees them after `validity_ttl_s`."""

    def __init__(self, redis: Redis, authenticator: Authenticator) -> None:
        self._redis = redis
        self._authenticator = authenticator
        self._listener: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._listener = asyncio.create_task(self._listen_for_ever(), name="revocations")

    async def close(self) -> None:
        await cancel_and_wait(self._listener)

    async def announce(self, user_id: UUID) -> None:
        """Announce a committed revocation."""
        # Here at once: this process must not need Redis for it.
        self._authenticator.invalidate_user(user_id)
        try:
            await self._redis.publish(CHANNEL, str(user_id))
        except REDIS_AWAY:
            log.warning("revocation_not_announced")

    async def _listen_for_ever(self) -> None:
        while True:
            try:
                async with self._redis.pubsub() as subscription:
                    await subscription.subscribe(CHANNEL)
                    async for message in subscription.listen():
                        if message["type"] == "message":
                            self._authenticator.invalidate_user(UUID(message["data"].decode()))
            except (*REDIS_AWAY, ValueError):
                await asyncio.sleep(_RECONNECT_PAUSE_S)
