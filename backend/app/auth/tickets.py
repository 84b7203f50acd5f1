"""Single-use tickets for browsers, which cannot send a header when they open a socket."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from app.auth.api_keys import key_digest
from app.auth.principal import Credential, CredentialReference
from app.errors import Unauthorized, Unavailable
from app.jobs import REDIS_AWAY

TICKET_TTL_S = 30
"""Long enough for a page to open its socket, too short to be of use in a stolen log of addresses."""


@dataclass(frozen=True)
class Tickets:
    """Tickets in Redis, by digest.

    A ticket holds the session and a reference to its credential, never its permissions: scopes, role and quotas
    can change until the ticket is used.
    """

    redis: Redis

    async def issue(self, reference: CredentialReference, session_id: UUID) -> str:
        """Issue a ticket. Raises Unavailable without Redis."""
        ticket = secrets.token_urlsafe(24)
        content = json.dumps({"session": str(session_id), "credential": _as_json(reference)})
        try:
            await self.redis.set(_key(ticket), content, ex=TICKET_TTL_S)
        except REDIS_AWAY as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be issued. Try again soon."
            ) from error
        return ticket

    async def redeem(self, ticket: str, session_id: UUID) -> CredentialReference:
        """Remove the ticket from Redis, so that it works once, and return its reference.

        The caller must confirm the credential. Raises Unauthorized, and Unavailable without Redis.
        """
        try:
            stored = await self.redis.getdel(_key(ticket))
        except REDIS_AWAY as error:
            raise Unavailable(
                "tickets_unavailable", "Redis does not answer, so no ticket can be checked. Try again soon."
            ) from error
        content = json.loads(stored) if stored else {}
        # Used up all the same: a ticket that is tried at another session is not to be tried again.
        if content.get("session") != str(session_id) or "credential" not in content:
            raise Unauthorized("ticket_invalid", "This ticket is unknown, used or expired. Ask for a new one.")
        return _from_json(content["credential"])


def _key(ticket: str) -> str:
    return f"ticket:{key_digest(ticket)}"


def _as_json(reference: CredentialReference) -> dict[str, Any]:
    return {
        "user_id": str(reference.user_id),
        "kind": reference.credential,
        "origin": str(reference.origin),
        "expires_at": reference.expires_at.isoformat() if reference.expires_at else None,
    }


def _from_json(fields: dict[str, Any]) -> CredentialReference:
    return CredentialReference(
        user_id=UUID(fields["user_id"]),
        credential=Credential(fields["kind"]),
        origin=UUID(fields["origin"]),
        expires_at=datetime.fromisoformat(fields["expires_at"]) if fields["expires_at"] else None,
    )
