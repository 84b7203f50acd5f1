"""Slows down guessing: counters in Redis for what is tried, gone some time after the last try."""

import hashlib

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.errors import TooMany

log = structlog.get_logger(__name__)

MAX_WAIT_S = 3600
_FAILURES_TTL_S = 86_400

# KEYS: failures, lock. ARGV: free tries, longest wait, memory. The wait in ms, or 0 and the try is taken.
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
    """Counts by (what, who). Without Redis it lets everybody pass and says so in the log."""

    def __init__(self, redis: Redis, window_s: int) -> None:
        self._redis = redis
        self._window_s = window_s

    async def take(self, action: str, subject: str, limit: int) -> None:
        """Use up one try, before what it is for: many at once get no more than many in turn.

        Raises TooMany when `who` had none left.
        """
        key = _key(action, subject)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.incr(key)
                pipe.expire(key, self._window_s, nx=True)
                pipe.ttl(key)
                used, _, left_s = await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", what=action)
            return
        if used > limit:
            raise too_many_tries(left_s)

    async def take_with_back_off(self, action: str, subject: str, free_tries: int) -> None:
        """Use up one try: after `free` of them, each doubles the wait for the next, up to MAX_WAIT_S.

        A day without a try, or `clear`, forgets them. Raises TooMany while `who` must wait.
        """
        key = _key(action, subject)
        told = (key, f"{key}:lock", str(free_tries), str(MAX_WAIT_S), str(_FAILURES_TTL_S))
        try:
            wait_ms = int(await self._redis.eval(_TAKE_WITH_BACK_OFF, 2, *told))
        except RedisError:
            log.warning("throttle_unavailable", what=action)
            return
        if wait_ms > 0:
            raise too_many_tries(wait_ms / 1000)

    async def clear(self, action: str, subject: str) -> None:
        """The last try succeeded: the tries before it are forgotten."""
        key = _key(action, subject)
        try:
            await self._redis.delete(key, f"{key}:lock")
        except RedisError:
            log.warning("throttle_unavailable", what=action)

    async def give_back(self, action: str, subject: str) -> None:
        """The try was none: it succeeded."""
        key = _key(action, subject)
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.decr(key)
                pipe.expire(key, self._window_s, nx=True)
                await pipe.execute()
        except RedisError:
            log.warning("throttle_unavailable", what=action)


def too_many_tries(left_s: float) -> TooMany:
    wait_s = max(1, int(left_s + 0.999))
    return TooMany("too_many_tries", f"Too many tries. Try again in {wait_s} s.", retry_after_s=wait_s)


def _key(what: str, who: str) -> str:
    """`who` is hashed: what a caller writes never becomes a key."""
    return f"throttle:{what}:{hashlib.sha256(who.encode()).hexdigest()[:32]}"
