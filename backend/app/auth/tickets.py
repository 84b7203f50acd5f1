"""Tickets for browsers, which cannot send a header with a socket: one socket, once, within seconds."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from redis.asyncio import Redis
from redis.exceptions import RedisError

from app.auth.keys import key_digest
from app.auth.principal import Credential, Principal, Role, Scope
from app.auth.quotas import Quotas
from app.errors import Unauthorized, Unavailable

TICKET_TTL_S = 30


@dataclass(frozen=True)
class Tickets:
    """A ticket is kept by its digest, with whom and what it admits; it ends with the credential that asked."""

    redis: Redis

    async def issue(self, who: Principal, session_id: UUID) -> str:
        """Raises Unavailable without Redis."""
        ticket = secrets.token_urlsafe(24)
        admits = json.dumps({"session": str(session_id), "who": _as_json(who)})
        try:
            await self.redis.set(_key(ticket), admits, ex=TICKET_TTL_S)
        except RedisError as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be issued. Try again soon."
            ) from error
        return ticket

    async def redeem(self, ticket: str, session_id: UUID) -> Principal:
        """Whom it admits to this session; it works no second time. Raises Unauthorized."""
        try:
            kept = await self.redis.getdel(_key(ticket))
        except RedisError as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be checked."
            ) from error
        admits = json.loads(kept) if kept else {}
        if admits.get("session") != str(session_id):
            raise Unauthorized("ticket_invalid", "This ticket is unknown, used or expired. Ask for a new one.")
        return _from_json(admits["who"])


def _key(ticket: str) -> str:
    return f"ticket:{key_digest(ticket)}"


def _as_json(who: Principal) -> dict[str, Any]:
    return {
        "user_id": str(who.user_id),
        "role": who.role,
        "credential": who.credential,
        "origin": str(who.origin),
        "expires_at": who.expires_at.isoformat() if who.expires_at else None,
        "scopes": sorted(who.scopes),
        "quotas": vars(who.quotas),
    }


def _from_json(said: dict[str, Any]) -> Principal:
    return Principal(
        user_id=UUID(said["user_id"]),
        role=Role(said["role"]),
        credential=Credential(said["credential"]),
        origin=UUID(said["origin"]),
        expires_at=datetime.fromisoformat(said["expires_at"]) if said["expires_at"] else None,
        scopes=frozenset(map(Scope, said["scopes"])),
        quotas=Quotas(**said["quotas"]),
    )
