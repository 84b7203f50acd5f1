"""Runs: a program or query over your tables, in a sandbox cell."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.deletion import RESPONSES, DeletionsDep, deletion_response
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.session_ends import Wait, ends_within
from app.api.dependencies.sessions import session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.program_runs.queries import RunFilter, RunReader
from app.program_runs.queries import list_runs as list_runs_of
from app.program_runs.schemas import GRAPH, Language, RunCreate, RunStatus, RunStatusView, RunSummary, RunView
from app.sessions.queries import SessionReader
from app.sessions.service import SessionService
from app.threads.queries import ThreadReader

router = APIRouter(prefix="/runs", tags=["runs"], responses=problems(401))


async def _service(resources: ResourcesDep) -> SessionService:
    return session_service(resources, GRAPH)


async def _reader(resources: ResourcesDep, principal: PrincipalDep) -> RunReader:
    return RunReader(resources.database, principal.user_id)


ServiceDep = Annotated[SessionService, Depends(_service)]
ReaderDep = Annotated[RunReader, Depends(_reader)]


@router.post(
    "",
    status_code=201,
    operation_id="create_run",
    responses={200: {"model": RunView, "description": "The run ended within `wait`."}, **problems(404, 409)},
    dependencies=[CHECK_STORAGE],
)
async def create_run(
    body: RunCreate,
    principal: PrincipalDep,
    service: ServiceDep,
    reader: ReaderDep,
    request: Request,
    response: Response,
    resources: ResourcesDep,
    wait: Wait = 0.0,
    idempotency_key: IdempotencyKey = None,
) -> RunView | RunStatusView:
    """Start a run. With `wait` the answer is the ended run, and 200, if it ends by then.

    Otherwise follow it by its status, or by the streams of the session with its id.
    """
    if body.session_id is not None:
        # Of the caller's own: a run reads what its session holds.
        await SessionReader(resources.database, principal.user_id).check_exists(body.session_id)
    if body.thread_id is not None:
        thread = await ThreadReader(resources.database, principal.user_id).get_thread(body.thread_id)
        body = body.model_copy(update={"dataset_ids": body.dataset_ids or thread.dataset_ids})
    created = await service.create(principal.user_id, body, idempotency_key, parent_id=body.session_id)
    response.headers["Location"] = f"{request.url.path}/{created.id}"
    if await ends_within(resources, created.id, wait):
        response.status_code = 200
        return await reader.get(created.id)
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


@router.get("", operation_id="list_runs")
async def list_runs(
    resources: ResourcesDep,
    principal: PrincipalDep,
    page: KeyedPageDep,
    status: RunStatus | None = None,
    dataset_id: UUID | None = None,
    query_mode: Annotated[Language | None, Query(description="Language of the run.")] = None,
    thread_id: Annotated[UUID | None, Query(description="Conversation of the run.")] = None,
) -> Page[RunSummary]:
    """List your runs, newest first. Filters hold together."""
    admitted = RunFilter(status, dataset_id, query_mode, thread_id)
    return keyed_page(page, await list_runs_of(resources.database, principal.user_id, admitted, page.portion))


@router.get("/{run_id}", operation_id="get_run", responses=problems(404))
async def get_run(run_id: UUID, reader: ReaderDep) -> RunView:
    """Describe a run: code, inputs, outcome, output and result."""
    return await reader.get(run_id)


@router.get("/{run_id}/status", operation_id="get_run_status", responses=problems(404))
async def get_run_status(run_id: UUID, reader: ReaderDep) -> RunStatusView:
    """Return the status of a run."""
    run = await reader.get(run_id)
    return RunStatusView(id=run.id, status=run.status)


@router.delete("/{run_id}", status_code=202, operation_id="cancel_run", responses=problems(404, 409))
async def cancel_run(
    run_id: UUID, principal: PrincipalDep, reader: ReaderDep, service: ServiceDep
) -> RunStatusView:
    """Cancel a run. Its status is `cancelled` once its cell is killed."""
    # Raises for a session of the crew, which the cancel below would take as well.
    await reader.get(run_id)
    await service.cancel(principal.user_id, run_id)
    return RunStatusView(id=run_id, status=RunStatus.RUNNING)


@router.delete(
    "/{run_id}/data", status_code=204, operation_id="delete_run", response_class=Response, responses=RESPONSES
)
async def delete_run(run_id: UUID, principal: PrincipalDep, deletions: DeletionsDep) -> Response:
    """Delete a run with its artifacts. A running one is cancelled first."""
    return deletion_response(
        await deletions.delete_session(principal.user_id, run_id, also_derived=True, run=True)
    )
