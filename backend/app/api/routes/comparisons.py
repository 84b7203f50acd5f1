"""Comparisons of sessions."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.errors import InvalidInput
from app.pipeline.fork_comparison import find_differences
from app.sessions.forks.comparison import MAX_SESSIONS, SessionComparison
from app.sessions.forks.comparison_schemas import ComparisonView
from app.tools.finalization.holdout_outputs import OUTPUTS

router = APIRouter(tags=["sessions"], responses=problems(401))

MAX_TEXT = 37 * MAX_SESSIONS
"""Characters of the ids and the commas between them."""

SessionIds = Annotated[
    str,
    Query(
        max_length=2 * MAX_TEXT,
        description=f"Ids of two to {MAX_SESSIONS} sessions, separated by commas. The first is compared with "
        "each of the others.",
        examples=["6f1c1c3e-0000-4000-8000-000000000001,6f1c1c3e-0000-4000-8000-000000000002"],
    ),
]


@router.get("/compare", operation_id="compare_sessions", responses=problems(404, 409))
async def compare_sessions(
    sessions: SessionIds, principal: PrincipalDep, resources: ResourcesDep
) -> ComparisonView:
    """Compare a session with others, as a rule forks of it: the last common step, everything that differs
    since with the step that it comes from, the leaderboards, and the difference of each metric on the rows of
    the hold-out that both predicted."""
    comparison = SessionComparison(resources.database, resources.computer, find_differences, OUTPUTS)
    return await comparison.compare(principal.user_id, _parse_ids(sessions))


def _parse_ids(text: str) -> list[UUID]:
    """Parse ids separated by commas. Raises InvalidInput."""
    try:
        return [UUID(part.strip()) for part in text.split(",")]
    except ValueError as error:
        raise InvalidInput(
            "sessions_invalid", "`sessions` takes ids separated by commas.", field="sessions"
        ) from error
