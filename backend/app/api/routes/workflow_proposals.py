"""Proposed changes of workflows: from words or operations, with their difference, to accept or reject."""

from typing import Annotated, Self
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.dependencies.authors import AuthorDep
from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.pages import PageDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.program_runs.schemas import RunStatus, RunStatusView
from app.sessions.schemas import WORKFLOW_GRAPH
from app.workflows.dry_runs import DryRuns, DryRunView
from app.workflows.patching import Operations
from app.workflows.proposals import ProposalService, ProposalView, propose_by_operations, propose_by_words
from app.workflows.schemas import ReadVersion, VersionMessage
from app.workflows.service import WorkflowService, make_changed_error
from app.workflows.validation import require_valid

router = APIRouter(tags=["workflows"], responses=problems(401))


class ProposalCreate(BaseModel):
    """A change in words, or as operations of RFC 6902 with a message. `save`: accept it at once."""

    model_config = ConfigDict(extra="forbid")

    message: VersionMessage = Field(default="", examples=["run it every weekday at 8"])
    operations: Operations | None = None
    version: ReadVersion = None
    time_zone: Annotated[str, Field(max_length=100)] = "UTC"
    save: bool = False

    @model_validator(mode="after")
    def _require_change(self) -> Self:
        if self.operations is None and not self.message.strip():
            raise ValueError("Send a `message` that says what to change, or `operations`.")
        return self


async def _proposals(resources: ResourcesDep, principal: PrincipalDep) -> ProposalService:
    check = resources.check_documents(principal.user_id)
    return ProposalService(resources.database, principal.user_id, check)


ProposalServiceDep = Annotated[ProposalService, Depends(_proposals)]


@router.post(
    "/workflows/{workflow_id}/proposals",
    status_code=201,
    operation_id="propose_workflow_change",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def propose_workflow_change(
    workflow_id: UUID,
    body: ProposalCreate,
    proposals: ProposalServiceDep,
    author: AuthorDep,
    request: Request,
    response: Response,
) -> ProposalView:
    """Propose a change. Nothing changes before it is accepted.

    Words that ask for data, or may mean several changes, are refused; `options` says what they may mean.
    """
    workflow = await WorkflowService(proposals.db, proposals.owner).get(workflow_id)
    # Words mean the version that their author has read.
    if body.version not in (None, workflow.version):
        raise make_changed_error(workflow_id, workflow.version)
    if body.operations is None:
        change = await propose_by_words(workflow.document, body.message, proposals.check, body.time_zone)
    else:
        change = propose_by_operations(workflow.document, body.operations, body.message)
    proposal = await proposals.create(workflow, change, body.message)
    prefix = request.url.path.partition("/workflows/")[0]
    response.headers["Location"] = f"{prefix}/workflow-proposals/{proposal.id}"
    return await proposals.accept(proposal.id, author) if body.save else proposal


@router.get(
    "/workflows/{workflow_id}/proposals", operation_id="list_workflow_proposals", responses=problems(404)
)
async def list_workflow_proposals(
    workflow_id: UUID, proposals: ProposalServiceDep, page: PageDep
) -> list[ProposalView]:
    """List the proposed changes of a workflow, newest first."""
    await WorkflowService(proposals.db, proposals.owner).get(workflow_id)
    return await proposals.list_proposals(workflow_id, page.limit, page.offset)


@router.get("/workflow-proposals/{proposal_id}", operation_id="get_workflow_proposal", responses=problems(404))
async def get_workflow_proposal(proposal_id: UUID, proposals: ProposalServiceDep) -> ProposalView:
    """Describe a proposed change with its difference."""
    return await proposals.get(proposal_id)


@router.post(
    "/workflow-proposals/{proposal_id}/accept",
    operation_id="accept_workflow_proposal",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def accept_workflow_proposal(
    proposal_id: UUID, proposals: ProposalServiceDep, author: AuthorDep
) -> ProposalView:
    """Save the proposed version. A workflow that was changed since stays as it is."""
    return await proposals.accept(proposal_id, author)


@router.post(
    "/workflow-proposals/{proposal_id}/dry-runs",
    status_code=201,
    operation_id="try_workflow_proposal",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def try_workflow_proposal(
    proposal_id: UUID,
    proposals: ProposalServiceDep,
    resources: ResourcesDep,
    request: Request,
    response: Response,
) -> RunStatusView:
    """Run a proposed change without effects, over the tables that the last run got. Nothing is accepted.

    Messages, stored datasets, studies, agents and requests other than GET are left out, approvals taken for
    given. `Location` names what differs.
    """
    proposal, document = await proposals.get_document(proposal_id)
    require_valid(proposal.faults)
    dry_run = await DryRuns(proposals.db, proposals.owner).make_request(proposal, document)
    created = await session_service(resources, WORKFLOW_GRAPH).create(proposals.owner, dry_run)
    response.headers["Location"] = f"{request.url.path}/{created.id}"
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


@router.get(
    "/workflow-proposals/{proposal_id}/dry-runs/{run_id}",
    operation_id="get_workflow_dry_run",
    responses=problems(404),
)
async def get_workflow_dry_run(proposal_id: UUID, run_id: UUID, proposals: ProposalServiceDep) -> DryRunView:
    """Show what a proposed change would come to, beside what the last run came to."""
    await proposals.get(proposal_id)  # the first id of the address is looked for first
    return await DryRuns(proposals.db, proposals.owner).get(proposal_id, run_id)


@router.post(
    "/workflow-proposals/{proposal_id}/reject",
    operation_id="reject_workflow_proposal",
    responses=problems(404, 409),
)
async def reject_workflow_proposal(proposal_id: UUID, proposals: ProposalServiceDep) -> ProposalView:
    """Reject a proposed change."""
    return await proposals.reject(proposal_id)
