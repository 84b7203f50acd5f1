"""Rules of a session that let a tool run without asking: list, check and revoke them.

A rule is an approval that was answered with ALWAYS. Revoking it marks that answer, and the tool asks again.
"""

from datetime import UTC, datetime
from uuid import UUID

from app.db.pool import Database
from app.errors import NotFound
from app.sessions.schemas import AllowanceView
from app.sessions.statements import VIEWS

ALWAYS = "always in this session"
"""Answer to an approval that makes a rule."""


async def is_tool_allowed(db: Database, session_id: UUID, tool: str) -> bool:
    return any(rule.tool == tool for rule in await list_allowances(db, session_id))


async def list_allowances(db: Database, session_id: UUID) -> list[AllowanceView]:
    """List the rules that were not revoked, oldest first."""
    return [AllowanceView(**row) for row in await db.rows(VIEWS.tool_permissions, session_id, ALWAYS)]


async def revoke(db: Database, session_id: UUID, tool: str) -> None:
    """Revoke a rule, so that the tool asks before its next call. Raises NotFound without such a rule."""
    if not await db.rows(VIEWS.revoke_tool_permission, session_id, ALWAYS, tool, datetime.now(UTC)):
        raise NotFound("allowance_not_found", f"No rule of this session allows {tool!r} without asking.")
