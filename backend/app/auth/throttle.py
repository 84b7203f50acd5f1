"""Throttle against guessing: counters of tries in Redis, which expire after the last try."""

import hashlib

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.errors import TooMany

log = structlog.get_logger(__name__)

MAX_WAIT_S = 3600
"""The doubling ends at an hour, so that nobody can lock an owner out of their account for longer."""
_FAILURES_TTL_S = 86_400
"""A day without a try resets the doubling."""

# KEYS: failures, lock. ARGV: free tries, longest wait (s), expiry of failures (s). Returns the wait in ms; 0
# takes the try. A script, since concurrent tries between a read and a write would all be free.
_TAKE_WITH_BACK_OFF = """
local locked = redis.call('pttl', KEYS[2])
if locked > 0 then return locked end
local failures = redis.call('incr', KEYS[1])
redis.call('expire', KEYS[1], ARGV[3])
local beyond = failures - tonumber(ARGV[1])
if beyond >= 0 then
  local wait_s = math.min(2 ^ math.min(beyond, 20), tonumber(ARGV[2]))
  redis.call('set', KEYS[2], 1, 'PX', math.floor(wait_s * 1000))
end
return 0
"""


class Throttle:
    """Count tries by action and subject. Without Redis every try is admitted, with a warning."""

    def __init__(self, redis: Redis, window_s: int) -> None:
        self._redis = redis
        self._window_s = window_s

    async def take(self, action: str, subject: str, limit: int) -> None:
        """Take one try before the action, so that concurrent tries get no more than successive ones.

        Raises TooMany when the subject has no try left.
        """
        key = _key(action, subject)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.incr(key)
                # The window begins with the first try; later ones do not prolong it.
                pipe.expire(key, self._window_s, nx=True)
                pipe.ttl(key)
                used, _, remaining_s = await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", action=action)
            return
        if used > limit:
            raise too_many_tries(remaining_s)

    async def take_with_back_off(self, action: str, subject: str, free_tries: int) -> None:
        """Take one try: after `free_tries`, each doubles the wait for the next, up to MAX_WAIT_S.

        A day without a try, or `clear`, resets the count. Raises TooMany while the subject must wait.
        """
        key = _key(action, subject)
        arguments = (key, f"{key}:lock", str(free_tries), str(MAX_WAIT_S), str(_FAILURES_TTL_S))
        try:
            wait_ms = int(await self._redis.eval(_TAKE_WITH_BACK_OFF, 2, *arguments))
        except RedisError:
            log.warning("throttle_unavailable", action=action)
            return
        if wait_ms > 0:
            raise too_many_tries(wait_ms / 1000)

    async def clear(self, action: str, subject: str) -> None:
        """Reset the count after a success."""
        key = _key(action, subject)
        try:
            await self._redis.delete(key, f"{key}:lock")
        except RedisError:
            log.warning("throttle_unavailable", action=action)

    async def give_back(self, action: str, subject: str) -> None:
        """Return a try that succeeded."""
        key = _key(action, subject)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.decr(key)
                pipe.expire(key, self._window_s, nx=True)
                await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", action=action)


def too_many_tries(remaining_s: float) -> TooMany:
    wait_s = max(1, int(remaining_s + 0.999))
    return TooMany("too_many_tries", f"Too many tries. Try again in {wait_s} s.", retry_after_s=wait_s)


def _key(action: str, subject: str) -> str:
    """Make the Redis key; the subject is hashed, so that no text of a caller becomes a key."""
    return f"throttle:{action}:{hashlib.sha256(subject.encode()).hexdigest()[:32]}"
