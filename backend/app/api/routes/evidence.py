"""Evidence: one recorded call of a session."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.sessions.call_evidence import EvidenceView, read_evidence

router = APIRouter(prefix="/lab/agent/sessions/{session_id}", tags=["sessions"])


@router.get("/steps/{step}/calls/{call}", operation_id="get_recorded_call", responses=problems(401, 404))
async def get_recorded_call(
    session_id: UUID,
    step: Annotated[int, Path(ge=0, le=100_000, examples=[14])],
    call: Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00]+$", examples=["tool:0.0"])],
    principal: PrincipalDep,
    resources: ResourcesDep,
) -> EvidenceView:
    """Return a recorded call with arguments and result. Claims of reports name `step`, `call` and `pointer`."""
    return await read_evidence(resources.database, principal.user_id, session_id, step, call)
