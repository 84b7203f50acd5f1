"""Jobs of machines over HTTP: the same messages and answers as over the queue."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request, Response

from app.agent_jobs.message import MAX_JOB_ID_CHARS, JobRequest, check_version
from app.agent_jobs.service import JobService, JobSummary, JobView
from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import PageDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.errors import InvalidInput
from app.sessions.schemas import JOB_GRAPH

router = APIRouter(prefix="/agent/jobs", tags=["jobs"], responses=problems(401))


async def _jobs(resources: ResourcesDep, principal: PrincipalDep) -> JobService:
    return JobService(resources.database, session_service(resources, JOB_GRAPH), principal.user_id)


JobServiceDep = Annotated[JobService, Depends(_jobs)]
JobIdPath = Annotated[str, Path(max_length=MAX_JOB_ID_CHARS, pattern=r"^[A-Za-z0-9._:-]+$")]


@router.post(
    "", status_code=201, operation_id="send_job", responses=problems(404, 409), dependencies=[CHECK_STORAGE]
)
async def send_job(
    body: JobRequest,
    jobs: JobServiceDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JobView:
    """Send a job. Sent again with its `job_id`, it is answered once, with the first answer.

    An Idempotency-Key, which is not needed, has to be the `job_id`.
    """
    check_version(body)
    if idempotency_key not in (None, body.job_id):
        raise InvalidInput(
            "idempotency_key_wrong", "The Idempotency-Key of a job is its job_id.", field="job_id"
        )
    await jobs.submit(body)
    response.headers["Location"] = f"{request.url.path}/{body.job_id}"
    return await jobs.view(body.job_id)


@router.get("", operation_id="list_jobs")
async def list_jobs(jobs: JobServiceDep, page: PageDep) -> Sequence[JobSummary]:
    """List your jobs, newest first."""
    return await jobs.list_jobs(page.limit, page.offset)


@router.get("/{job_id}", operation_id="get_job", responses=problems(404))
async def get_job(job_id: JobIdPath, jobs: JobServiceDep) -> JobView:
    """Describe a job with its answer, once it is there."""
    return await jobs.view(job_id)


@router.post("/{job_id}/cancel", status_code=202, operation_id="cancel_job", responses=problems(404, 409))
async def cancel_job(job_id: JobIdPath, jobs: JobServiceDep) -> JobView:
    """Cancel a job that has no answer yet."""
    return await jobs.cancel(job_id)
