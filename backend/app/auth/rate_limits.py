"""Rate limits with sliding windows in Redis, by the scripts of the library `limits`, in one round trip.

The library's own storage takes one round trip for a hit and two for the remainder; here one script serves all
meters of a request.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, floor
from typing import Any

import structlog
from limits import RateLimitItem, parse
from limits.aio.storage.redis.bridge import RedisBridge
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from app.errors import TooMany

log = structlog.get_logger(__name__)

_ACQUIRE_SCRIPT: str = RedisBridge.SCRIPT_ACQUIRE_SLIDING_WINDOW.decode()
_PEEK_SCRIPT: str = RedisBridge.SCRIPT_SLIDING_WINDOW.decode()

# The library's scripts as functions of one. KEYS: two a meter; ARGV: amount, window and cost a meter.
_TAKE_ALL_SCRIPT = f"""
local acquire = function(KEYS, ARGV) {_ACQUIRE_SCRIPT} end
local look = function(KEYS, ARGV) {_PEEK_SCRIPT} end
local answers = {{}}
for i = 1, #KEYS / 2 do
  local keys = {{KEYS[2 * i - 1], KEYS[2 * i]}}
  local granted = acquire(keys, {{ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]}})
  answers[i] = {{granted and 1 or 0, look(keys, {{ARGV[3 * i - 1]}})}}
end
return answers
"""
_TAKE_ALL_SHA1 = hashlib.sha1(_TAKE_ALL_SCRIPT.encode(), usedforsecurity=False).hexdigest()
_REDIS_ERRORS = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True)
class RateMeter:
    """Use of a resource by a subject (user or address) at a rate of at most `rate`.

    `cost`: amount to use; 0 only checks whether anything remains.
    """

    resource: str
    subject: str
    rate: str
    cost: int = 1

    @property
    def item(self) -> RateLimitItem:
        return _item(self.rate)

    def window_keys(self) -> tuple[str, str]:
        """Return the keys of the previous and the current window; the braces put both on one cluster node."""
        base = f"meter:{{{self.resource}:{self.subject}:{self.rate}}}"
        return f"{base}/-1", base


@dataclass(frozen=True)
class RateUsage:
    """State of a meter: the counts of two windows, the previous one weighted by its remaining time.

    `previous_s`: seconds until the previous window no longer counts. `current_s`: seconds until the current
    window becomes the previous one.
    """

    meter: RateMeter
    is_granted: bool
    previous_count: float
    previous_s: float
    current_count: float
    current_s: float

    @property
    def limit(self) -> int:
        return self.meter.item.amount

    @property
    def window_s(self) -> int:
        return self.meter.item.get_expiry()

    @property
    def used(self) -> float:
        return self.previous_count * self.previous_s / self.window_s + self.current_count

    @property
    def remaining(self) -> int:
        return max(0, self.limit - floor(self.used)) if self.is_granted else 0

    @property
    def wait_s(self) -> int:
        """Seconds until one more is available, if nothing else is used meanwhile."""
        # Either the previous window fades, or the current one has to become the previous one first.
        if self.current_count < self.limit and self.previous_count:
            wait_s = (self.used + 1 - self.limit) * self.window_s / self.previous_count
        else:
            wait_s = self.current_s + self.window_s * (self.current_count + 1 - self.limit) / max(
                self.current_count, 1
            )
        return max(1, ceil(wait_s))


class RateLimiter:
    """Take from rate meters. Without Redis everything is granted: limits must not stop the service."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def take(self, meters: Sequence[RateMeter]) -> list[RateUsage]:
        """Use each meter's cost where so much remains; return the usages. One round trip."""
        metered = [meter for meter in meters if meter.rate]
        if not metered:
            return []
        keys = [key for meter in metered for key in meter.window_keys()]
        arguments = [n for meter in metered for n in (meter.item.amount, meter.item.get_expiry(), meter.cost)]
        try:
            answers = await self._run_script(len(keys), *keys, *map(str, arguments))
        except _REDIS_ERRORS as error:
            log.warning("meters_unavailable", error=type(error).__name__)
            return []
        return [_parse_usage(meter, *answer) for meter, answer in zip(metered, answers, strict=True)]

    async def add(self, meter: RateMeter) -> None:
        """Count an amount that was already used, even beyond the limit."""
        if not meter.rate or meter.cost < 1:
            return
        window_ms = meter.item.get_expiry() * 1000
        previous, current = meter.window_keys()
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.eval(
                    _PEEK_SCRIPT, 2, previous, current, str(meter.item.get_expiry())
                )  # shifts an ended window
                # Only where the window is new: it lasts its own time, and as long as the previous one.
                pipe.set(current, 0, px=2 * window_ms, nx=True)
                pipe.incrby(current, meter.cost)
                await pipe.execute()
        except _REDIS_ERRORS as error:
            log.warning("meters_unavailable", error=type(error).__name__)

    async def _run_script(self, keys: int, *args: str) -> list[Any]:
        try:
            return list(await self._redis.evalsha(_TAKE_ALL_SHA1, keys, *args))
        # Redis forgets its scripts at a restart.
        except NoScriptError:
            return list(await self._redis.eval(_TAKE_ALL_SCRIPT, keys, *args))


@lru_cache(maxsize=1000)
def _item(rate: str) -> RateLimitItem:
    return parse(rate)


def _parse_usage(meter: RateMeter, acquired: Any, look: Sequence[Any]) -> RateUsage:
    before, before_ms, now, now_ms = (max(0.0, float(value or 0)) for value in look)
    # Its key lives for two windows: what exceeds one is the rest of the current window.
    now_s = max(0.0, now_ms / 1000 - meter.item.get_expiry())
    reading = RateUsage(meter, True, before, before_ms / 1000, now, now_s)
    # A meter of cost 0 takes nothing: whether anything is left is seen in its counts.
    is_granted = bool(acquired) if meter.cost else reading.used < reading.limit
    return replace(reading, is_granted=is_granted)


def rate_limit_headers(usages: Sequence[RateUsage]) -> list[tuple[bytes, bytes]]:
    """Make the `RateLimit-*` headers of the IETF draft for the usage closest to its limit."""
    if not usages:
        return []
    tightest = min(usages, key=lambda usage: usage.remaining / usage.limit)
    values = {
        b"ratelimit-limit": tightest.limit,
        b"ratelimit-remaining": tightest.remaining,
        b"ratelimit-reset": ceil(tightest.current_s),
        b"ratelimit-policy": f"{tightest.limit};w={tightest.window_s}",
    }
    return [(name, str(value).encode()) for name, value in values.items()]


def make_refusal(usages: Sequence[RateUsage]) -> TooMany | None:
    """Make the error of the first refused meter; None when all are granted."""
    refused = next((usage for usage in usages if not usage.is_granted), None)
    if refused is None:
        return None
    return TooMany(
        "rate_limited",
        f"More than {refused.limit:,} {_NOUNS[refused.meter.resource]} in {refused.window_s:,} s. "
        f"Try again in {refused.wait_s:,} s.",
        retry_after_s=refused.wait_s,
        limit=refused.limit,
        window_s=refused.window_s,
        of=refused.meter.resource,
    )


_NOUNS = {
    "requests": "requests of this user",
    "views": "reads of tables by this user",
    "commands": "commands of this user over sockets",
    "address": "requests of this address",
    "uploads": "uploads of this user",
    "compute": "CPU seconds of this user's computations",
    "mails": "e-mails of this user's workflows",
    "hooks": "calls of this webhook",
}
