"""Pause and resume of sessions."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.sessions.pausing import Pauses
from app.sessions.schemas import SessionStatusView

router = APIRouter(prefix="/lab/agent/sessions", tags=["sessions"], responses=problems(401))


async def _pauses(resources: ResourcesDep) -> Pauses:
    return Pauses(resources.database, resources.tail, resources.send, resources.settings.sessions)


PausesDep = Annotated[Pauses, Depends(_pauses)]


@router.post("/{session_id}/pause", status_code=202, operation_id="pause_session", responses=problems(404, 409))
async def pause_session(session_id: UUID, principal: PrincipalDep, pauses: PausesDep) -> SessionStatusView:
    """Pause a session: no step and no fit of it begins, and running ones end. Its clock stands, and its place
    is free for another session. The status is `paused` once its step has ended; to repeat this does nothing."""
    return SessionStatusView(id=session_id, status=await pauses.pause(principal.user_id, session_id))


@router.post(
    "/{session_id}/resume", status_code=202, operation_id="resume_session", responses=problems(404, 409)
)
async def resume_session(session_id: UUID, principal: PrincipalDep, pauses: PausesDep) -> SessionStatusView:
    """Let a paused session go on where it stopped. A session that is not paused stays as it is."""
    return SessionStatusView(id=session_id, status=await pauses.resume(principal.user_id, session_id))
