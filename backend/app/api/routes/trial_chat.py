"""A message to the assistant that is answered as a job is, to try a service: in development only."""

from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, ConfigDict, Field

from app.agent_jobs.message import VERSION, JobMessageContext, JobRequest
from app.agent_jobs.service import JobView
from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.session_ends import MAX_WAIT_S, Wait, ends_within
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.api.routes.agent_jobs import JobServiceDep
from app.errors import Forbidden
from app.workflows.document import WorkflowDocument

router = APIRouter(prefix="/test", tags=["jobs"], responses=problems(401, 403))


class TrialPrompt(BaseModel):
    """The prompt of a job, without what names and addresses one."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    prompt: Annotated[str, Field(min_length=1, max_length=20_000, examples=["how many rows are there?"])]
    current_workflow: WorkflowDocument | None = None
    context: JobMessageContext = Field(default_factory=JobMessageContext)
    time_zone: Annotated[str, Field(max_length=200)] = "UTC"


async def _require_development(resources: ResourcesDep, principal: PrincipalDep) -> None:
    """Raises Forbidden in production."""
    if resources.settings.production:
        raise Forbidden(
            "development_only", "This is for development only. Use POST /agent/jobs, or POST /chat."
        )


@router.post(
    "/chat",
    operation_id="try_chat",
    responses={
        202: {"model": JobView, "description": "The job goes on: it did not end within `wait`."},
        **problems(404),
    },
    dependencies=[Depends(_require_development), CHECK_STORAGE],
)
async def try_chat(
    body: TrialPrompt, jobs: JobServiceDep, resources: ResourcesDep, response: Response, wait: Wait = MAX_WAIT_S
) -> JobView:
    """Answer a prompt as a job of your account, and wait for its answer: without a queue and without a job_id.

    Refused where `LABCREW_ENV=production`.
    """
    fields: dict[str, Any] = {name: getattr(body, name) for name in TrialPrompt.model_fields}
    record = await jobs.submit(JobRequest(version=VERSION, job_id=f"trial-{uuid4().hex}", **fields))
    await ends_within(resources, record.id, wait)
    view = await jobs.view(record.job_id)
    response.status_code = 200 if view.answer else 202
    return view
