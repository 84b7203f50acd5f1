"""Tickets for browsers, which cannot send a header with a socket: one socket, once, within seconds."""

import secrets
from dataclasses import dataclass
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.auth.keys import key_digest
from app.errors import Unauthorized, Unavailable

TICKET_TTL_S = 30


@dataclass(frozen=True)
class Tickets:
    """A ticket is kept by its digest, with whom and what it admits."""

    redis: Redis

    async def issue(self, user_id: UUID, session_id: UUID) -> str:
        """Raises Unavailable without Redis."""
        ticket = secrets.token_urlsafe(24)
        try:
            await self.redis.set(_key(ticket), f"{user_id} {session_id}", ex=TICKET_TTL_S)
        except RedisError as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be issued. Try again soon."
            ) from error
        return ticket

    async def redeem(self, ticket: str, session_id: UUID) -> UUID:
        """The user whom it admits to this session; it works no second time. Raises Unauthorized."""
        try:
            admits = await self.redis.getdel(_key(ticket))
        except RedisError as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be checked."
            ) from error
        text = admits.decode() if isinstance(admits, bytes) else admits or ""
        user_id, _, admitted = text.partition(" ")
        if admitted != str(session_id):
            raise Unauthorized("ticket_invalid", "This ticket is unknown, used or expired. Ask for a new one.")
        return UUID(user_id)


def _key(ticket: str) -> str:
    return f"ticket:{key_digest(ticket)}"
