"""What every deletion takes and answers."""

from typing import Annotated, Any

from fastapi import Depends, Query, Response
from fastapi.responses import JSONResponse

from app.api.deps import ResourcesDep
from app.api.openapi import problems
from app.resources import Resources
from app.retention.accounts import AccountDeletions
from app.retention.deletions import Deletions
from app.retention.schemas import DeletionPending


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
        description="`true` also deletes what was made of it, `false` leaves that; without it a thing that was "
        "used is refused, and the answer names what was made of it."
    ),
]

ANSWERS: dict[int | str, dict[str, Any]] = {
    **problems(404, 409),
    204: {"description": "It is gone."},
    202: {"model": DeletionPending, "description": "It goes when what runs has been cancelled."},
}
"""Of a route that deletes."""


def answer(waits_for: int) -> Response:
    """204, or 202 while sessions must end first."""
    if not waits_for:
        return Response(status_code=204)
    return JSONResponse(DeletionPending(waits_for=waits_for).model_dump(), 202)
