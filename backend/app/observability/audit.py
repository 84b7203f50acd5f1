"""Audit trail: actor, action and object of each change. Rows are only added."""

import json
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_APPEND = text(
    "INSERT INTO audit (owner_id, session_id, actor, action, detail) "
    "VALUES (:owner_id, :session_id, :actor, :action, CAST(:detail AS jsonb))"
)


async def record(
    db: AsyncSession,
    action: str,
    *,
    owner_id: UUID | None = None,
    session_id: UUID | None = None,
    actor: str = "user",
    **detail: object,
) -> None:
    """Append a row in the caller's transaction, so that a change that is rolled back is not in the trail.

    `actor`: `user`, `system` or an agent's name; `detail`: ids and facts, never secrets.
    """
    row = {
        "owner_id": owner_id,
        "session_id": session_id,
        "actor": actor,
        "action": action,
        "detail": json.dumps(detail, default=str),
    }
    await db.execute(_APPEND, row)
