"""Tools that a user lets run without being asked again: a rule of one session that they see and can revoke.

A rule is an approval that was answered with ALWAYS. Revoking it marks that answer, and the tool asks again.
"""

from datetime import UTC, datetime
from uuid import UUID

from app.db.pool import Database
from app.errors import NotFound
from app.sessions.schemas import AllowanceView
from app.sessions.statements import VIEWS

ALWAYS = "always in this session"


async def is_tool_allowed(db: Database, session_id: UUID, tool: str) -> bool:
    return any(row["tool"] == tool for row in await db.rows(VIEWS.tool_permissions, session_id, ALWAYS))


async def list_allowances(db: Database, session_id: UUID) -> list[AllowanceView]:
    """The rules that stand, oldest first."""
    return [AllowanceView(**dict(row)) for row in await db.rows(VIEWS.tool_permissions, session_id, ALWAYS)]


async def revoke(db: Database, session_id: UUID, tool: str) -> None:
    """Ask again before the tool's next call. Raises NotFound when no rule allows the tool."""
    if not await db.rows(VIEWS.revoke_tool_permission, session_id, ALWAYS, tool, datetime.now(UTC)):
        raise NotFound("allowance_not_found", f"No rule of this session allows {tool!r} without asking.")
