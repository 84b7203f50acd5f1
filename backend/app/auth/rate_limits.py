"""How much of a rate is used: sliding windows in Redis, by the scripts of `limits`, in one round trip.

The library's own storage asks once for a hit and twice more for what is left; here all meters of a request are
one pipeline.
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
    """`what` is metered of `who` at a rate of at most `rate`.

    `cost`: how much to use; with 0 it is only asked whether anything is left.
    """

    resource: str
    subject: str
    rate: str
    cost: int = 1

    @property
    def item(self) -> RateLimitItem:
        return _item(self.rate)

    def window_keys(self) -> tuple[str, str]:
        """Of the window before and of the current one, which must lie on one server of a cluster."""
        base = f"meter:{{{self.resource}:{self.subject}:{self.rate}}}"
        return f"{base}/-1", base


@dataclass(frozen=True)
class RateUsage:
    """How a meter stands after it was asked for: the counts of two windows, the former one fading out.

    `before_s`: until the former has faded; `now_s`: until the current one becomes the former.
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
        """Until there is one more, if nothing else is taken meanwhile."""
        if self.current_count < self.limit and self.previous_count:
            wait_s = (self.used + 1 - self.limit) * self.window_s / self.previous_count
        else:
            wait_s = self.current_s + self.window_s * (self.current_count + 1 - self.limit) / max(
                self.current_count, 1
            )
        return max(1, ceil(wait_s))


class RateLimiter:
    """Without Redis everything is granted, and the log says so: limits must not be what fails."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def take(self, meters: Sequence[RateMeter]) -> list[RateUsage]:
        """Use some of each that has so much left; how each stands. One round trip."""
        metered = [meter for meter in meters if meter.rate]
        if not metered:
            return []
        keys = [key for meter in metered for key in meter.window_keys()]
        told = [n for meter in metered for n in (meter.item.amount, meter.item.get_expiry(), meter.cost)]
        try:
            answers = await self._run_script(len(keys), *keys, *map(str, told))
        except _REDIS_ERRORS as error:
            log.warning("meters_unavailable", error=type(error).__name__)
            return []
        return [_parse_usage(meter, *answer) for meter, answer in zip(metered, answers, strict=True)]

    async def add(self, meter: RateMeter) -> None:
        """Count what was used already, even beyond the limit."""
        if not meter.rate or meter.cost < 1:
            return
        window_ms = meter.item.get_expiry() * 1000
        before, now = meter.window_keys()
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.eval(_PEEK_SCRIPT, 2, before, now, str(meter.item.get_expiry()))  # shifts an ended window
                pipe.set(now, 0, px=2 * window_ms, nx=True)
                pipe.incrby(now, meter.cost)
                await pipe.execute()
        except _REDIS_ERRORS as error:
            log.warning("meters_unavailable", error=type(error).__name__)

    async def _run_script(self, keys: int, *args: str) -> list[Any]:
        try:
            return list(await self._redis.evalsha(_TAKE_ALL_SHA1, keys, *args))
        except NoScriptError:
            return list(await self._redis.eval(_TAKE_ALL_SCRIPT, keys, *args))


@lru_cache(maxsize=1000)
def _item(rate: str) -> RateLimitItem:
    return parse(rate)


def _parse_usage(meter: RateMeter, acquired: Any, look: Sequence[Any]) -> RateUsage:
    before, before_ms, now, now_ms = (max(0.0, float(value or 0)) for value in look)
    now_s = max(0.0, now_ms / 1000 - meter.item.get_expiry())
    reading = RateUsage(meter, True, before, before_ms / 1000, now, now_s)
    is_granted = bool(acquired) if meter.cost else reading.used < reading.limit
    return replace(reading, is_granted=is_granted)


def rate_limit_headers(usages: Sequence[RateUsage]) -> list[tuple[bytes, bytes]]:
    """Of the tightest: `RateLimit-*` of the IETF's draft."""
    if not usages:
        return []
    tightest = min(usages, key=lambda one: one.remaining / one.limit)
    told = {
        b"ratelimit-limit": tightest.limit,
        b"ratelimit-remaining": tightest.remaining,
        b"ratelimit-reset": ceil(tightest.current_s),
        b"ratelimit-policy": f"{tightest.limit};w={tightest.window_s}",
    }
    return [(name, str(value).encode()) for name, value in told.items()]


def make_refusal(usages: Sequence[RateUsage]) -> TooMany | None:
    """Why it cannot be granted, if one of them refused."""
    refused = next((one for one in usages if not one.is_granted), None)
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
    "address": "requests of this address",
    "uploads": "uploads of this user",
    "compute": "CPU seconds of this user's computations",
}
