"""Dependencies, parameters and responses that all deletions share."""

from typing import Annotated, Any

from fastapi import Depends, Query, Response
from fastapi.responses import JSONResponse

from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.deletion.accounts import AccountDeletions
from app.deletion.deletions import Deletions
from app.deletion.schemas import DeletionPending
from app.resources import Resources


def deletions(resources: Resources) -> Deletions:
    return Deletions(resources.database, resources.redis, resources.tail, resources.send)


async def _deletions(resources: ResourcesDep) -> Deletions:
    return deletions(resources)


async def _account_deletions(resources: ResourcesDep) -> AccountDeletions:
    return AccountDeletions(resources.database, resources.redis, deletions(resources))


DeletionsDep = Annotated[Deletions, Depends(_deletions)]
AccountDeletionsDep = Annotated[AccountDeletions, Depends(_account_deletions)]
AlsoDerived = Annotated[
    bool | None,
    Query(
        description="`true` also deletes everything derived from it, `false` keeps that. Without it, the "
        "deletion of something in use is refused, and the answer names what was derived."
    ),
]

OUTCOMES: dict[int | str, dict[str, Any]] = {
    204: {"description": "It is deleted."},
    202: {"model": DeletionPending, "description": "It is deleted once the running sessions are cancelled."},
}
"""Documented successes of a route that deletes."""
RESPONSES: dict[int | str, dict[str, Any]] = {**problems(404, 409), **OUTCOMES}
"""Documented responses of a route that deletes what others may need."""


def deletion_response(remaining_sessions: int) -> Response:
    """Return 204, or 202 while sessions must end first."""
    if not remaining_sessions:
        return Response(status_code=204)
    return JSONResponse(DeletionPending(remaining_sessions=remaining_sessions).model_dump(), 202)
