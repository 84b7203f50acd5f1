"""One-time codes that sign this machine's own user in: `labcrew up` prints one in an address."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from redis.asyncio import Redis

from app.auth.api_keys import key_digest
from app.errors import Unauthorized, Unavailable
from app.jobs import REDIS_AWAY

CODE_TTL_S = 300
"""Long enough to read a terminal and open a browser."""


@dataclass(frozen=True)
class SignInCodes:
    """Codes in Redis, by digest."""

    redis: Redis

    async def issue(self, user_id: UUID) -> str:
        """Issue a code. Raises Unavailable without Redis."""
        code = secrets.token_urlsafe(24)
        try:
            await self.redis.set(_key(code), str(user_id), ex=CODE_TTL_S)
        except REDIS_AWAY as error:
            raise Unavailable(
                "codes_unavailable", "Redis does not answer, so no code can be issued. Try again soon."
            ) from error
        return code

    async def redeem(self, code: str) -> UUID:
        """Remove the code, so that it works once, and return its user.

        Raises Unauthorized, and Unavailable without Redis.
        """
        try:
            stored = await self.redis.getdel(_key(code))
        except REDIS_AWAY as error:
            raise Unavailable(
                "codes_unavailable", "Redis does not answer, so no code can be checked. Try again soon."
            ) from error
        if not stored:
            raise refused_code()
        return UUID(stored.decode() if isinstance(stored, bytes) else stored)


def refused_code() -> Unauthorized:
    return Unauthorized(
        "code_invalid",
        "This address was used already or is too old. `labcrew sign-in` prints a new one.",
    )


def _key(code: str) -> str:
    return f"sign-in-code:{key_digest(code)}"
