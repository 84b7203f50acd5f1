"""Workflows: saved pipelines over your datasets, their versions, patches and runs."""

import asyncio
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from app.api.dependencies.authors import AuthorDep
from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import KeyedPageDep, Page, PageDep, keyed_page
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.errors import InvalidInput
from app.program_runs.schemas import GRAPH, RunStatus, RunStatusView, WorkflowOrigin
from app.sessions.schemas import WORKFLOW_GRAPH
from app.sessions.service import SessionService
from app.workflows.authors import Author
from app.workflows.differences import WorkflowDifference
from app.workflows.document import WorkflowDocument
from app.workflows.document_check import DocumentCheck, RequestTarget
from app.workflows.fusion import dataset_ids, is_plain, is_query, make_plans
from app.workflows.node_types import NodeTypeView, describe_node_types
from app.workflows.overviews import WorkflowOverviews
from app.workflows.patching import apply_patch
from app.workflows.runs.schemas import WorkflowRunPreferences, make_whole_run
from app.workflows.schemas import (
    MAX_VERSION,
    TriggerView,
    ValidationView,
    VersionSummary,
    VersionView,
    WorkflowChange,
    WorkflowCreate,
    WorkflowOverview,
    WorkflowPatch,
    WorkflowReplace,
    WorkflowRestore,
    WorkflowRun,
    WorkflowRunCreate,
    WorkflowRunView,
    WorkflowView,
)
from app.workflows.service import WorkflowChangeRequest, WorkflowService, preview
from app.workflows.tags import TagName, WorkflowTags
from app.workflows.triggers.comparison import compare_versions
from app.workflows.triggers.views import list_triggers, make_views
from app.workflows.triggers.webhooks import check_payload
from app.workflows.validation import find_outputs, require_valid

router = APIRouter(tags=["workflows"], responses=problems(401))


async def _service(resources: ResourcesDep, principal: PrincipalDep) -> WorkflowService:
    return WorkflowService(resources.database, principal.user_id)


async def _runs(resources: ResourcesDep) -> SessionService:
    return session_service(resources, GRAPH)


async def _check(resources: ResourcesDep, principal: PrincipalDep) -> DocumentCheck:
    return resources.check_documents(principal.user_id)


WorkflowServiceDep = Annotated[WorkflowService, Depends(_service)]
RunServiceDep = Annotated[SessionService, Depends(_runs)]
CheckDep = Annotated[DocumentCheck, Depends(_check)]
VersionNumber = Annotated[int, Path(ge=1, le=MAX_VERSION)]
DryRun = Annotated[bool, Query(description="Show the change, and save nothing.")]


@dataclass(frozen=True)
class Changing:
    """A change of a workflow, which a dry run only shows."""

    service: WorkflowService
    check: DocumentCheck
    current: WorkflowView
    author: Author
    dry: bool

    async def save(self, change: WorkflowChangeRequest) -> WorkflowChange:
        require_valid(await self.check.find_faults(change.document))
        changed = preview(self.current, change) if self.dry else await self.service.change(self.current, change)
        difference = await compare_versions(self.current.document, change.document)
        return WorkflowChange(workflow=changed, difference=difference)


async def _changing(
    workflow_id: UUID, service: WorkflowServiceDep, check: CheckDep, author: AuthorDep, dry: DryRun = False
) -> Changing:
    return Changing(service, check, await service.get(workflow_id), author, dry)


ChangingDep = Annotated[Changing, Depends(_changing)]


@router.get("/workflow-schema", operation_id="get_workflow_schema")
async def get_workflow_schema(principal: PrincipalDep) -> list[NodeTypeView]:
    """List the types of nodes, each with the JSON Schema of its configuration."""
    return describe_node_types()


@router.post("/workflows/validate", operation_id="validate_workflow")
async def validate_workflow(body: WorkflowDocument, check: CheckDep) -> ValidationView:
    """Find every fault of a workflow, each with its place, and when it would run. Nothing is saved."""
    faults = await check.find_faults(body)
    triggers = await asyncio.to_thread(make_views, body, {})  # seconds for 500 schedules of rare days
    return ValidationView(is_valid=not faults, faults=faults, outputs=find_outputs(body), triggers=triggers)


@router.post(
    "/workflows",
    status_code=201,
    operation_id="create_workflow",
    responses=problems(409),
    dependencies=[CHECK_STORAGE],
)
async def create_workflow(
    body: WorkflowCreate,
    service: WorkflowServiceDep,
    check: CheckDep,
    author: AuthorDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> WorkflowView:
    """Save a workflow. One that is not valid is refused, with all of its faults."""
    require_valid(await check.find_faults(body.document))
    workflow = await service.create(body.name, body.document, body.message, author, idempotency_key)
    response.headers["Location"] = f"{request.url.path}/{workflow.id}"
    return workflow


@router.get("/workflows", operation_id="list_workflows")
async def list_workflows(
    service: WorkflowServiceDep,
    page: KeyedPageDep,
    tag: Annotated[
        TagName | None, Query(description="Those that have a version of this tag.", examples=["production"])
    ] = None,
) -> Page[WorkflowOverview]:
    """List your workflows, the last changed first, each with its newest run and its next time."""
    overviews = WorkflowOverviews(service.db, service.owner)
    return keyed_page(page, await overviews.list_page(page.portion, tag))


@router.get("/workflows/{workflow_id}", operation_id="get_workflow", responses=problems(404))
async def get_workflow(workflow_id: UUID, service: WorkflowServiceDep) -> WorkflowView:
    """Describe a workflow with its current content."""
    return await service.get(workflow_id)


@router.put(
    "/workflows/{workflow_id}",
    operation_id="replace_workflow",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def replace_workflow(body: WorkflowReplace, changing: ChangingDep) -> WorkflowChange:
    """Save a new version with this content."""
    change = WorkflowChangeRequest(body.document, body.message, changing.author, body.name, body.version)
    return await changing.save(change)


@router.post(
    "/workflows/{workflow_id}/patch",
    operation_id="patch_workflow",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def patch_workflow(body: WorkflowPatch, changing: ChangingDep) -> WorkflowChange:
    """Save a new version that the operations make of the current one."""
    patched = apply_patch(changing.current.document, body.operations)
    operations = [operation.to_json() for operation in body.operations]
    change = WorkflowChangeRequest(patched, body.message, changing.author, None, body.version, operations)
    return await changing.save(change)


@router.post(
    "/workflows/{workflow_id}/restore",
    operation_id="restore_workflow",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def restore_workflow(body: WorkflowRestore, changing: ChangingDep) -> WorkflowChange:
    """Save the content of an earlier version as a new one."""
    former = await changing.service.get_version(changing.current.id, body.to)
    message = body.message or f"Restore version {body.to}."
    change = WorkflowChangeRequest(former.document, message, changing.author, None, body.version)
    return await changing.save(change)


@router.delete(
    "/workflows/{workflow_id}",
    status_code=204,
    operation_id="delete_workflow",
    response_class=Response,
    responses=problems(404),
)
async def delete_workflow(workflow_id: UUID, service: WorkflowServiceDep) -> Response:
    """Delete a workflow with all of its versions. Its runs and their results stay."""
    await service.delete(workflow_id)
    return Response(status_code=204)


@router.get("/workflows/{workflow_id}/hosts", operation_id="list_workflow_hosts", responses=problems(404))
async def list_workflow_hosts(
    workflow_id: UUID, service: WorkflowServiceDep, check: CheckDep
) -> list[RequestTarget]:
    """List the hosts that a workflow sends to, with the nodes that do, and whether they are allowed."""
    return await check.list_targets((await service.get(workflow_id)).document)


@router.get("/workflows/{workflow_id}/triggers", operation_id="list_workflow_triggers", responses=problems(404))
async def list_workflow_triggers(workflow_id: UUID, service: WorkflowServiceDep) -> list[TriggerView]:
    """List what begins runs of a workflow, in words and with the next times."""
    return await list_triggers(service.db, await service.get(workflow_id), service.owner)


@router.get("/workflows/{workflow_id}/versions", operation_id="list_workflow_versions", responses=problems(404))
async def list_workflow_versions(
    workflow_id: UUID, service: WorkflowServiceDep, page: PageDep
) -> list[VersionSummary]:
    """List the versions of a workflow, newest first, each with the patch that made it."""
    return await service.list_versions(workflow_id, page.limit, page.offset)


@router.get(
    "/workflows/{workflow_id}/versions/{version}",
    operation_id="get_workflow_version",
    responses=problems(404),
)
async def get_workflow_version(
    workflow_id: UUID, version: VersionNumber, service: WorkflowServiceDep
) -> VersionView:
    """Describe a version with its content."""
    return await service.get_version(workflow_id, version)


@router.get(
    "/workflows/{workflow_id}/versions/{version}/diff/{other}",
    operation_id="compare_workflow_versions",
    responses=problems(404),
)
async def compare_workflow_versions(
    workflow_id: UUID, version: VersionNumber, other: VersionNumber, service: WorkflowServiceDep
) -> WorkflowDifference:
    """Compare two versions: what has to change in `version` to make `other`."""
    before = await service.get_version(workflow_id, version)
    after = await service.get_version(workflow_id, other)
    return await compare_versions(before.document, after.document)


@router.post(
    "/workflows/{workflow_id}/run",
    status_code=201,
    operation_id="run_workflow",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def run_workflow(
    workflow_id: UUID,
    body: WorkflowRunCreate,
    principal: PrincipalDep,
    service: WorkflowServiceDep,
    runs: RunServiceDep,
    resources: ResourcesDep,
    check: CheckDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunStatusView:
    """Run a workflow, or compute the output of one `node` alone.

    Without a `node`, a workflow of one chain of operations is one query, whose table is in `GET /runs/{id}`.
    Any other is
    run node by node; `Location` names its run, `GET /workflow-runs/{id}`.
    """
    workflow = await service.get(workflow_id)
    version = body.version or workflow.version
    if body.tag is not None:
        version = await WorkflowTags(service.db, service.owner).find_version(workflow_id, body.tag)
    document = workflow.document
    if version != workflow.version:
        document = (await service.get_version(workflow_id, version)).document
    # Once more: a dataset or a secret may be gone since this version was saved.
    require_valid(await check.find_faults(document))
    prefix = request.url.path.partition("/workflows/")[0]
    if body.node is None and (body.by_node or not is_plain(document)):
        origin = WorkflowOrigin(id=workflow_id, version=version, node="")
        if body.payload is not None:
            check_payload(document, body.payload)
        run_request = make_whole_run(document, WorkflowRunPreferences(workflow=origin, payload=body.payload))
        sessions = session_service(resources, WORKFLOW_GRAPH)
        created = await sessions.create(principal.user_id, run_request, idempotency_key)
        response.headers["Location"] = f"{prefix}/workflow-runs/{created.id}"
        return RunStatusView(id=created.id, status=RunStatus.QUEUED)
    node = _choose_output(document, body.node)
    tables = {dataset.id: dataset.table for dataset in await check.read_datasets(document)}
    plan = make_plans(document, tables)[node]
    run = WorkflowRun(
        goal=plan.model_dump_json(exclude_defaults=True),
        dataset_ids=dataset_ids(document),
        time_limit_s=body.time_limit_s,
        origin=WorkflowOrigin(id=workflow_id, version=version, node=node),
    )
    created = await runs.create(principal.user_id, run, idempotency_key)
    response.headers["Location"] = f"{prefix}/runs/{created.id}"
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


@router.get("/workflows/{workflow_id}/runs", operation_id="list_workflow_runs", responses=problems(404))
async def list_workflow_runs(
    workflow_id: UUID, service: WorkflowServiceDep, page: PageDep
) -> list[WorkflowRunView]:
    """List the runs of a workflow, newest first."""
    return await service.list_runs(workflow_id, page.limit, page.offset)


def _choose_output(document: WorkflowDocument, node: str | None) -> str:
    """Raises InvalidInput for a node that there is not, and for one behind a table that only a
    whole run makes."""
    outputs = find_outputs(document)
    if node is None and len(outputs) == 1:
        return outputs[0]
    if node is None:
        raise InvalidInput(
            "several_outputs",
            f"This workflow has several outputs: {', '.join(outputs[:20])}. Say which one in `node`, or "
            f"run all of them "
            "by `by_node`.",
            field="node",
        )
    if node not in {candidate.id for candidate in document.nodes}:
        raise InvalidInput("unknown_node", f"There is no node {node} in this version.", field="node")
    if not is_query(document, node):
        raise InvalidInput(
            "not_a_query",
            f"{node} is no query over datasets alone: run the whole workflow, without `node`.",
            field="node",
        )
    return node
