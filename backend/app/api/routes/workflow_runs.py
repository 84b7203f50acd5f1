"""Runs of whole workflows: their nodes, answers to what they wait for, and cancels."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import PageDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.sessions.schemas import WORKFLOW_GRAPH
from app.sessions.service import SessionService
from app.workflows.runs.queries import WorkflowRuns
from app.workflows.runs.schemas import InboxRunView, WholeRunView

router = APIRouter(prefix="/workflow-runs", tags=["workflows"], responses=problems(401))


class RunAnswer(BaseModel):
    """An answer to the question that the run waits for. `key`: that of the question, by default the oldest."""

    model_config = ConfigDict(extra="forbid")

    answer: JsonValue
    key: str | None = Field(default=None, max_length=200)


class RunRetry(BaseModel):
    """`from_node`: the first node that runs again, by default the first that failed."""

    model_config = ConfigDict(extra="forbid")

    from_node: str | None = Field(default=None, max_length=100)


async def _runs(resources: ResourcesDep, principal: PrincipalDep) -> WorkflowRuns:
    return WorkflowRuns(resources.database, principal.user_id)


async def _sessions(resources: ResourcesDep) -> SessionService:
    return session_service(resources, WORKFLOW_GRAPH)


RunsDep = Annotated[WorkflowRuns, Depends(_runs)]
SessionsDep = Annotated[SessionService, Depends(_sessions)]


@router.get("", operation_id="list_inbox_runs")
async def list_inbox_runs(
    runs: RunsDep,
    page: PageDep,
    status: Annotated[
        Literal["awaiting_user", "needs_review"],
        Query(
            description="`awaiting_user`: runs that wait for your answer, the longest waiting first. "
            "`needs_review`: of each workflow the newest run that came to an end, if it failed or left a doubt "
            "and you have not seen it; the last ended first."
        ),
    ],
) -> list[InboxRunView]:
    """List the runs of all workflows that you have to answer or to look at."""
    list_runs = runs.list_awaiting_user if status == "awaiting_user" else runs.list_to_review
    return await list_runs(page.limit, page.offset)


@router.get("/{run_id}", operation_id="get_workflow_run", responses=problems(404))
async def get_workflow_run(run_id: UUID, runs: RunsDep) -> WholeRunView:
    """Describe a run with the result of each node so far, and the question that it waits for."""
    return await runs.get(run_id)


@router.post(
    "/{run_id}/seen",
    status_code=204,
    operation_id="mark_workflow_run_seen",
    response_class=Response,
    responses=problems(404),
)
async def mark_workflow_run_seen(run_id: UUID, runs: RunsDep) -> Response:
    """Take a run, and those before it of its workflow, off the list of runs that need a review."""
    await runs.mark_seen(run_id)
    return Response(status_code=204)


@router.post("/{run_id}/answer", operation_id="answer_workflow_run", responses=problems(404, 409))
async def answer_workflow_run(
    run_id: UUID, body: RunAnswer, runs: RunsDep, sessions: SessionsDep
) -> WholeRunView:
    """Answer what a run waits for: an approval, or whether a message is sent again."""
    # Raises for a session of another kind, which the answer below would reach as well.
    await runs.get(run_id)
    await sessions.respond(runs.owner, run_id, body.key, body.answer)
    return await runs.get(run_id)


@router.post(
    "/{run_id}/retry",
    status_code=201,
    operation_id="retry_workflow_run",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def retry_workflow_run(
    run_id: UUID,
    body: RunRetry,
    runs: RunsDep,
    sessions: SessionsDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> WholeRunView:
    """Run the nodes of an ended run again from one on; the results of the others are kept.

    It is a new run of the same version.
    """
    retry = await runs.read_retry(run_id, body.from_node)
    created = await sessions.create(runs.owner, retry, idempotency_key)
    response.headers["Location"] = request.url.path.replace(f"{run_id}/retry", str(created.id))
    return await runs.get(created.id)


@router.post(
    "/{run_id}/cancel", status_code=202, operation_id="cancel_workflow_run", responses=problems(404, 409)
)
async def cancel_workflow_run(run_id: UUID, runs: RunsDep, sessions: SessionsDep) -> WholeRunView:
    """Cancel a run. What its nodes have done stays."""
    # Raises for a session of another kind, which the cancel below would take as well.
    await runs.get(run_id)
    await sessions.cancel(runs.owner, run_id)
    return await runs.get(run_id)
