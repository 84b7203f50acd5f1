"""Slows down guessing: a counter in Redis for each thing that is tried, gone after its window."""

import hashlib

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.errors import TooMany

log = structlog.get_logger(__name__)


class Throttle:
    """Counts by (what, who). Without Redis it lets everybody pass and says so in the log."""

    def __init__(self, redis: Redis, window_s: int) -> None:
        self._redis = redis
        self._window_s = window_s

    async def take(self, what: str, who: str, limit: int) -> None:
        """Use up one try, before what it is for: many at once get no more than many in turn.

        Raises TooMany when `who` had none left.
        """
        key = _key(what, who)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.incr(key)
                pipe.expire(key, self._window_s, nx=True)
                pipe.ttl(key)
                used, _, left_s = await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", what=what)
            return
        if used > limit:
            wait_s = max(1, left_s)
            raise TooMany("too_many_tries", f"Too many tries. Try again in {wait_s} s.", retry_after_s=wait_s)

    async def give_back(self, what: str, who: str) -> None:
        """The try was none: it succeeded."""
        key = _key(what, who)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.decr(key)
                pipe.expire(key, self._window_s, nx=True)
                await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", what=what)


def _key(what: str, who: str) -> str:
    """`who` is hashed: what a caller writes never becomes a key."""
    return f"throttle:{what}:{hashlib.sha256(who.encode()).hexdigest()[:32]}"
