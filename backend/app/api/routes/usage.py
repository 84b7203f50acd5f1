"""Usage of the quotas of a user."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import AuthDep, ResourcesDep
from app.api.openapi.document import problems
from app.auth.quotas import MIB, QuotaUpdate

router = APIRouter(prefix="/auth", tags=["auth"], responses=problems(401))

_OPEN = """
select count(*) filter (where class = 'study') as sessions, count(*) filter (where class = 'run') as runs,
  count(*) filter (where class = 'study' and admitted_at is not null) as running,
  count(*) filter (where class = 'turn' and admitted_at is not null
    and (lease_until is not null or wake > seen)) as running_turns
from sessions where owner_id = $1 and ended_at is null
"""


class QuotaUsage(BaseModel):
    """Amounts in use now. A limit of 0 is none."""

    stored_bytes: int = Field(description="Bytes of datasets and artifacts.")
    max_stored_bytes: int
    open_sessions: int = Field(description="Sessions that have not ended.")
    open_runs: int = Field(description="Runs that have not ended; as many as sessions may be open.")
    max_open_sessions: int
    running_sessions: int
    max_running_sessions: int
    running_turns: int = Field(description="Turns of conversations; more wait in a queue.")
    max_running_turns: int
    rates: QuotaUpdate = Field(description="Rates and amounts that hold for this user.")


@router.get("/me/usage", operation_id="get_usage")
async def get_usage(principal: PrincipalDep, auth_services: AuthDep, resources: ResourcesDep) -> QuotaUsage:
    """Return what the caller has stored and what runs, beside the limits of it."""
    quotas = principal.quotas
    row = await resources.database.row(_OPEN, principal.user_id)
    return QuotaUsage(
        stored_bytes=await auth_services.storage_quota.used_bytes(principal.user_id),
        max_stored_bytes=quotas.stored_mb * MIB,
        open_sessions=row["sessions"] if row else 0,
        open_runs=row["runs"] if row else 0,
        max_open_sessions=quotas.sessions,
        running_sessions=row["running"] if row else 0,
        max_running_sessions=quotas.running_sessions,
        running_turns=row["running_turns"] if row else 0,
        max_running_turns=quotas.running_turns,
        rates=QuotaUpdate(**quotas.__dict__),
    )
