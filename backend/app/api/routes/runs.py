"""Runs: a program or query over your tables, in a sandbox cell."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from app.api.deletion import RESPONSES, DeletionsDep, deletion_response
from app.api.deps import (
    CHECK_STORAGE,
    IdempotencyKey,
    KeyedPageDep,
    Page,
    PrincipalDep,
    ResourcesDep,
    keyed_page,
)
from app.api.openapi import problems
from app.api.session_deps import session_service
from app.program_runs.schemas import GRAPH, RunCreate, RunStatus, RunStatusView, RunSummary, RunView
from app.sessions.queries import SessionReader
from app.sessions.service import SessionService

router = APIRouter(prefix="/runs", tags=["runs"], responses=problems(401))


async def _service(resources: ResourcesDep) -> SessionService:
    return session_service(resources, GRAPH)


async def _reader(resources: ResourcesDep, principal: PrincipalDep) -> SessionReader:
    return SessionReader(resources.database, principal.user_id, runs=True)


ServiceDep = Annotated[SessionService, Depends(_service)]
ReaderDep = Annotated[SessionReader, Depends(_reader)]


@router.post(
    "", status_code=201, operation_id="create_run", responses=problems(404, 409), dependencies=[CHECK_STORAGE]
)
async def create_run(
    body: RunCreate,
    principal: PrincipalDep,
    service: ServiceDep,
    reader: ReaderDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunStatusView:
    """Start a run. Follow it by its status, or by the streams of the session with its id."""
    if body.session_id is not None:
        await reader.check_exists(body.session_id)
    created = await service.create(principal.user_id, body, idempotency_key, parent_id=body.session_id)
    response.headers["Location"] = f"{request.url.path}/{created.id}"
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


@router.get("", operation_id="list_runs")
async def list_runs(reader: ReaderDep, page: KeyedPageDep) -> Page[RunSummary]:
    """List your runs, newest first."""
    return keyed_page(page, (await reader.list_sessions(None, page.portion)).map(RunSummary.from_session))


@router.get("/{run_id}", operation_id="get_run", responses=problems(404))
async def get_run(run_id: UUID, reader: ReaderDep) -> RunView:
    """Describe a run: code, inputs, outcome, output and result."""
    return RunView.from_session_view(await reader.get(run_id))


@router.get("/{run_id}/status", operation_id="get_run_status", responses=problems(404))
async def get_run_status(run_id: UUID, reader: ReaderDep) -> RunStatusView:
    """Return the status of a run."""
    run = RunView.from_session_view(await reader.get(run_id))
    return RunStatusView(id=run.id, status=run.status)


@router.delete("/{run_id}", status_code=202, operation_id="cancel_run", responses=problems(404, 409))
async def cancel_run(
    run_id: UUID, principal: PrincipalDep, reader: ReaderDep, service: ServiceDep
) -> RunStatusView:
    """Cancel a run. Its status is `cancelled` once its cell is killed."""
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
