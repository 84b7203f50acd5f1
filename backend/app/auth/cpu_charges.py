"""CPU seconds that were used, taken out of the user's rate: after the fact, for nobody knows them before."""

import random
from dataclasses import dataclass
from uuid import UUID

from app.auth.rate_limits import RateLimiter, RateMeter
from app.db.pool import Database

COMPUTE = "compute"
_OWN_RATE = "select quotas ->> 'compute' as rate from users where id = $1"


@dataclass(frozen=True)
class CpuCharges:
    """`rate`: of a user who has none of their own."""

    db: Database
    rate_limiter: RateLimiter
    rate: str

    async def __call__(self, user_id: UUID, cpu_s: float) -> None:
        if not cpu_s:
            return
        own = await self.db.row(_OWN_RATE, user_id)
        rate = self.rate if own is None or own["rate"] is None else str(own["rate"])
        await self.rate_limiter.add(RateMeter(COMPUTE, str(user_id), rate, whole_seconds(cpu_s)))


def whole_seconds(cpu_s: float) -> int:
    """Rounded up as often as its fraction says: many short computations cost what they use together."""
    return int(cpu_s + random.random())  # noqa: S311 - no secret
