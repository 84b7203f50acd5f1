"""How many fits are computed at a time: every worker that computes says so in Redis, again and again.

Whoever plans a round divides its time by this. It is the moment's, so it lives in Redis and may be lost.
"""

import asyncio
import time
from typing import cast
from uuid import uuid4

from redis.asyncio import Redis

from app.jobs import REDIS_AWAY

KEY = "labcrew:hands"
_EVERY_S = 4.0
_GONE_S = 15.0


class Fleet:
    """`alone`: what to take the fleet for when nobody says anything."""

    def __init__(self, redis: Redis, alone: int) -> None:
        self._redis = redis
        self._alone = max(alone, 1)

    async def hands(self) -> int:
        """Fits that the workers alive now compute at a time, at least 1."""
        try:
            said = cast(list[bytes], await self._redis.zrangebyscore(KEY, time.time(), "+inf"))
        except REDIS_AWAY:
            return self._alone
        return sum(int(one.rpartition(b":")[2]) for one in said) or self._alone

    async def join(self, hands: int) -> None:
        """Say until cancelled that this process computes `hands` fits at a time; 0 says nothing."""
        member = f"{uuid4().hex}:{hands}"
        try:
            while hands:
                await self._say(member)
                await asyncio.sleep(_EVERY_S)
        finally:
            if hands:
                await self._leave(member)

    async def _say(self, member: str) -> None:
        now = time.time()
        try:
            await self._redis.zadd(KEY, {member: now + _GONE_S})
            await self._redis.zremrangebyscore(KEY, "-inf", now)
        except REDIS_AWAY:
            return

    async def _leave(self, member: str) -> None:
        try:
            await asyncio.wait_for(self._redis.zrem(KEY, member), timeout=1)
        except (*REDIS_AWAY, TimeoutError):
            return
