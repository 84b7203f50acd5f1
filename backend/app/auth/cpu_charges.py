"""Charges of CPU seconds to users' rates, after use: how much a computation takes is not known before."""

import random
from dataclasses import dataclass
from uuid import UUID

from app.auth.rate_limits import RateLimiter, RateMeter
from app.db.pool import Database

COMPUTE = "compute"
_OWN_RATE = "select quotas ->> 'compute' as rate from users where id = $1"


@dataclass(frozen=True)
class CpuCharges:
    """Charge CPU seconds to a user. `rate`: for users without a rate of their own."""

    db: Database
    rate_limiter: RateLimiter
    rate: str

    async def __call__(self, user_id: UUID, cpu_s: float) -> None:
        if not cpu_s:
            return
        own_rate = await self.db.value(_OWN_RATE, user_id)
        rate = self.rate if own_rate is None else str(own_rate)
        await self.rate_limiter.add(RateMeter(COMPUTE, str(user_id), rate, whole_seconds(cpu_s)))


def whole_seconds(cpu_s: float) -> int:
    """Round up with the fraction as probability, so that many short computations are charged their sum."""
    return int(cpu_s + random.random())  # noqa: S311 - no secret
