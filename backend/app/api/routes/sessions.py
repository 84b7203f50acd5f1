"""Sessions: create, read, answer, cancel and delete."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.deletion import RESPONSES, AlsoDerived, DeletionsDep, deletion_response
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import KeyedPageDep, Page, PageDep, keyed_page, numbered_page
from app.api.dependencies.resources import ResourcesDep, UowDep
from app.api.dependencies.sessions import ReaderDep, ServiceDep
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.artifacts.repository import ArtifactSelection
from app.artifacts.schemas import ArtifactView
from app.artifacts.service import list_artifacts
from app.datasets.column_check import check_dataset_columns
from app.sessions.lifecycle import SessionStatus
from app.sessions.queries import SessionFilter, SessionSort
from app.sessions.schemas import (
    AllowanceView,
    AuditView,
    MessageView,
    ResultsView,
    SessionAnswered,
    SessionCreate,
    SessionCreated,
    SessionRespond,
    SessionStatusView,
    SessionSummary,
    SessionUpdate,
    SessionView,
    StatusCounts,
    StepView,
)
from app.sessions.tool_permissions import list_allowances, revoke

router = APIRouter(prefix="/lab/agent/sessions", tags=["sessions"], responses=problems(401))

ToolName = Annotated[str, Path(min_length=1, max_length=100, pattern="^[a-z_]+$")]


@router.post(
    "",
    status_code=201,
    operation_id="create_session",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def create_session(
    body: SessionCreate,
    principal: PrincipalDep,
    service: ServiceDep,
    uow: UowDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> SessionCreated:
    """Create a session from a goal and datasets. It starts at once; follow it by socket or event stream.

    A preference that names a column which no dataset has is refused with `unknown_column`.
    """
    preferences = body.preferences.model_dump()
    await check_dataset_columns(uow.db, principal.user_id, body.dataset_ids, preferences, "body.preferences")
    created = await service.create(principal.user_id, body, idempotency_key)
    response.headers["Location"] = f"{request.url.path}/{created.id}"
    return created


Words = Annotated[
    str,
    Query(max_length=200, pattern=r"^[^\x00]*$", description="Words that are all in the name or the goal."),
]
Archived = Annotated[bool, Query(description="Archived sessions instead of the others.")]
OfDataset = Annotated[UUID | None, Query(description="Those about this dataset.")]


@router.get("", operation_id="list_sessions")
async def list_sessions(
    reader: ReaderDep,
    page: KeyedPageDep,
    status: SessionStatus | None = None,
    q: Words = "",
    sort: SessionSort = "newest",
    archived: Archived = False,
    dataset_id: OfDataset = None,
) -> Page[SessionSummary]:
    """List your sessions, newest first."""
    session_filter = SessionFilter(status, q, archived, dataset_id)
    return keyed_page(page, await reader.list_sessions(session_filter, page.portion, sort))


@router.get("/counts", operation_id="count_sessions")
async def count_sessions(
    reader: ReaderDep, q: Words = "", archived: Archived = False, dataset_id: OfDataset = None
) -> StatusCounts:
    """Count your sessions by status."""
    return await reader.count_by_status(SessionFilter(None, q, archived, dataset_id))


@router.get("/{session_id}", operation_id="get_session", responses=problems(404))
async def get_session(session_id: UUID, reader: ReaderDep) -> SessionView:
    """Return status, open question, usage and result of a session."""
    return await reader.get(session_id)


@router.patch("/{session_id}", operation_id="update_session", responses=problems(404))
async def update_session(
    session_id: UUID, body: SessionUpdate, principal: PrincipalDep, service: ServiceDep, reader: ReaderDep
) -> SessionView:
    """Name or archive a session. Its goal, which the crew reads, stays."""
    await service.update(principal.user_id, session_id, body)
    return await reader.get(session_id)


@router.get("/{session_id}/messages", operation_id="list_session_messages", responses=problems(404))
async def list_messages(session_id: UUID, reader: ReaderDep, page: PageDep) -> Page[MessageView]:
    """List the messages of the conversation."""
    return numbered_page(page, *await reader.messages(session_id, page.limit, page.offset))


@router.get("/{session_id}/steps", operation_id="list_session_steps", responses=problems(404))
async def list_steps(session_id: UUID, reader: ReaderDep, page: PageDep) -> Page[StepView]:
    """List the committed steps with their calls."""
    return numbered_page(page, *await reader.steps(session_id, page.limit, page.offset))


@router.get("/{session_id}/artifacts", operation_id="list_session_artifacts", responses=problems(404))
async def list_session_artifacts(
    session_id: UUID, principal: PrincipalDep, reader: ReaderDep, page: KeyedPageDep, uow: UowDep
) -> Page[ArtifactView]:
    """List the artifacts of a session. The locked hold-out appears after its end."""
    # A session of somebody else is a 404, and no empty list.
    await reader.check_exists(session_id)
    return keyed_page(
        page, await list_artifacts(uow.db, principal.user_id, ArtifactSelection(session_id), page.portion)
    )


@router.get("/{session_id}/results", operation_id="get_session_results", responses=problems(404))
async def get_results(session_id: UUID, reader: ReaderDep) -> ResultsView:
    """Return the result of a session, and every fitted candidate."""
    return await reader.results(session_id)


@router.get("/{session_id}/audit", operation_id="list_session_audit", responses=problems(404))
async def list_audit(session_id: UUID, reader: ReaderDep, page: PageDep) -> Page[AuditView]:
    """List the actions of the user and of the agents."""
    return numbered_page(page, *await reader.audit(session_id, page.limit, page.offset))


@router.post(
    "/{session_id}/respond", status_code=202, operation_id="respond_session", responses=problems(404, 409)
)
async def respond_session(
    session_id: UUID, body: SessionRespond, principal: PrincipalDep, service: ServiceDep
) -> SessionAnswered:
    """Answer a question of the crew. The answer must satisfy the question's `answer_schema`."""
    key = await service.respond(principal.user_id, session_id, body.question, body.answer)
    return SessionAnswered(id=session_id, question=key)


@router.get("/{session_id}/allowances", operation_id="list_session_allowances", responses=problems(404))
async def list_session_allowances(
    session_id: UUID, reader: ReaderDep, resources: ResourcesDep
) -> list[AllowanceView]:
    """List the tools that run without approval, by an answer `always in this session`."""
    # A session of somebody else is a 404, and no empty list.
    await reader.check_exists(session_id)
    return await list_allowances(resources.database, session_id)


@router.delete(
    "/{session_id}/allowances/{tool}",
    status_code=204,
    operation_id="revoke_session_allowance",
    responses=problems(404),
)
async def revoke_session_allowance(
    session_id: UUID, tool: ToolName, reader: ReaderDep, resources: ResourcesDep
) -> None:
    """Require approval again before the next call of a tool."""
    await reader.check_exists(session_id)
    await revoke(resources.database, session_id, tool)


@router.delete("/{session_id}", status_code=202, operation_id="cancel_session", responses=problems(404, 409))
async def cancel_session(session_id: UUID, principal: PrincipalDep, service: ServiceDep) -> SessionStatusView:
    """Cancel a session. Its status is `cancelled` once nothing of it runs."""
    await service.cancel(principal.user_id, session_id)
    return SessionStatusView(id=session_id, status=SessionStatus.CANCELLING)


@router.delete(
    "/{session_id}/data",
    status_code=204,
    operation_id="delete_session",
    response_class=Response,
    responses=RESPONSES,
)
async def delete_session(
    session_id: UUID, principal: PrincipalDep, deletions: DeletionsDep, derived: AlsoDerived = None
) -> Response:
    """Delete a session with its journal, messages, events, artifacts, models, and runs inside it.

    A running session is cancelled first. Predictions by its models elsewhere count as derived.
    """
    return deletion_response(await deletions.delete_session(principal.user_id, session_id, derived))
