"""Tools that a user lets run without being asked again: a rule of one session that they see and can revoke.

A rule is an approval that was answered with ALWAYS. Revoking it marks that answer, and the tool asks again.
"""

from datetime import UTC, datetime
from uuid import UUID

from app.db.pool import Database
from app.errors import NotFound
from app.sessions.schemas import AllowanceView

ALWAYS = "always in this session"

_STANDING = """
select body -> 'about' ->> 'tool' as tool, key as question, answered_at as granted_at from questions
where session_id = $1 and kind = 'approval' and answer #>> '{}' = $2 and revoked_at is null
order by answered_at, key
"""
_REVOKE = """
update questions set revoked_at = $4
where session_id = $1 and kind = 'approval' and answer #>> '{}' = $2 and body -> 'about' ->> 'tool' = $3
  and revoked_at is null
returning key
"""


async def allows(db: Database, session_id: UUID, tool: str) -> bool:
    return any(row["tool"] == tool for row in await db.rows(_STANDING, session_id, ALWAYS))


async def list_allowances(db: Database, session_id: UUID) -> list[AllowanceView]:
    """The rules that stand, oldest first."""
    return [AllowanceView(**dict(row)) for row in await db.rows(_STANDING, session_id, ALWAYS)]


async def revoke(db: Database, session_id: UUID, tool: str) -> None:
    """Ask again before the tool's next call. Raises NotFound when no rule allows the tool."""
    if not await db.rows(_REVOKE, session_id, ALWAYS, tool, datetime.now(UTC)):
        raise NotFound("allowance_not_found", f"No rule of this session allows {tool!r} without asking.")
