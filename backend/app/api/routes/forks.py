"""Forks of sessions."""

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.sessions.forks.schemas import ForkCreate, ForkCreated, ForkPreview
from app.sessions.forks.service import ForkService
from app.sessions.forks.source import ForkRules

router = APIRouter(prefix="/lab/agent/sessions", tags=["sessions"], responses=problems(401))


async def _fork_service(resources: ResourcesDep) -> ForkService:
    # In a thread: it imports for a third of a second at its first call, and other requests go on meanwhile.
    rules = await asyncio.to_thread(_load_rules)
    return ForkService(resources.database, resources.send, resources.settings.sessions, rules)


def _load_rules() -> ForkRules:
    from app.pipeline.fork_changes import RULES  # noqa: PLC0415 - no start of the API waits for its imports

    return RULES


ForkServiceDep = Annotated[ForkService, Depends(_fork_service)]


@router.post(
    "/{session_id}/fork",
    status_code=201,
    operation_id="fork_session",
    responses={200: {"model": ForkPreview, "description": "A dry run."}, **problems(404, 409)},
    dependencies=[CHECK_STORAGE],
)
async def fork_session(
    session_id: UUID,
    body: ForkCreate,
    principal: PrincipalDep,
    service: ForkServiceDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    dry: Annotated[
        bool, Query(description="Only check the fork, and say what it would copy and run again.")
    ] = False,
) -> ForkCreated | ForkPreview:
    """Go back to a step or a question of a session, and go on from there in another way.

    The fork is a new session with a copy of everything that was recorded before that point. It runs at once.
    The source stays as it is, and either can be deleted without the other. With `dry` nothing is made.
    """
    if dry:
        response.status_code = 200
        return await service.preview(principal.user_id, session_id, body)
    forked = await service.fork(principal.user_id, session_id, body, idempotency_key)
    response.headers["Location"] = f"{request.url.path.rpartition('/')[0].rpartition('/')[0]}/{forked.id}"
    return forked
