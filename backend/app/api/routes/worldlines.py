"""Worldlines: the branches of a conversation, their workspaces, and their differences."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.dependencies.threads import ThreadReaderDep, ThreadServiceDep
from app.api.openapi.document import problems
from app.datasets.dataset_source import DatasetSource
from app.datasets.session_datasets import SessionDatasets
from app.threads.comparison import WorldlineComparisons
from app.threads.comparison_schemas import WorldlineComparison
from app.threads.schemas import WorldlineCreate, WorldlineList, WorldlineUpdate, WorldlineView
from app.threads.worldlines import WorldlineService
from app.workspaces.description import WorkspaceDescriptions
from app.workspaces.diffs import DiffRequest, DiffView, FileDiffs
from app.workspaces.reader import SnapshotReader
from app.workspaces.schemas import WorkspaceView

router = APIRouter(tags=["chat"], responses=problems(401))


async def _descriptions(resources: ResourcesDep, principal: PrincipalDep) -> WorkspaceDescriptions:
    def datasets_of(ids: Sequence[UUID]) -> DatasetSource:
        return SessionDatasets(resources.open_uow, principal.user_id, ids)

    return WorkspaceDescriptions(SnapshotReader(resources.database, principal.user_id), datasets_of)


async def _service(resources: ResourcesDep, threads: ThreadServiceDep) -> WorldlineService:
    return WorldlineService(resources.database, threads)


ServiceDep = Annotated[WorldlineService, Depends(_service)]
DescriptionsDep = Annotated[WorkspaceDescriptions, Depends(_descriptions)]


@router.get("/worldlines/{worldline_id}/workspace", operation_id="get_workspace", responses=problems(404))
async def get_workspace(worldline_id: UUID, descriptions: DescriptionsDep) -> WorkspaceView:
    """Describe what a conversation has made: its tables and views at the end of a worldline."""
    return await descriptions.describe(worldline_id)


@router.post("/generate-diff", operation_id="generate_diff", responses=problems(404))
async def generate_diff(body: DiffRequest, resources: ResourcesDep, principal: PrincipalDep) -> DiffView:
    """Show what a change of a file of a conversation would change, without making it."""
    snapshots = SnapshotReader(resources.database, principal.user_id)
    return await FileDiffs(snapshots, resources.blobs).describe(body)


@router.post(
    "/worldlines",
    status_code=201,
    operation_id="create_worldline",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def create_worldline(
    body: WorldlineCreate,
    principal: PrincipalDep,
    service: ServiceDep,
    reader: ThreadReaderDep,
    idempotency_key: IdempotencyKey = None,
) -> WorldlineView:
    """Branch a conversation after a turn. Its workspace is the one after that turn; no data is copied.

    With `message` the branch begins with it: `head` is its turn.
    """
    return await reader.get_worldline(await service.create(principal.user_id, body, idempotency_key))


@router.get("/worldlines", operation_id="list_worldlines", responses=problems(404))
async def list_worldlines(thread_id: UUID, reader: ThreadReaderDep) -> WorldlineList:
    """List the worldlines of a conversation, the first one first."""
    return WorldlineList(items=(await reader.get_thread(thread_id)).worldlines)


@router.patch("/worldlines/{worldline_id}", operation_id="update_worldline", responses=problems(404, 409))
async def update_worldline(
    worldline_id: UUID,
    body: WorldlineUpdate,
    principal: PrincipalDep,
    service: ServiceDep,
    reader: ThreadReaderDep,
) -> WorldlineView:
    """Rename a worldline."""
    await service.rename(principal.user_id, worldline_id, body.name)
    return await reader.get_worldline(worldline_id)


@router.delete(
    "/worldlines/{worldline_id}",
    status_code=204,
    operation_id="delete_worldline",
    response_class=Response,
    responses=problems(404, 409),
)
async def delete_worldline(worldline_id: UUID, principal: PrincipalDep, service: ServiceDep) -> Response:
    """Delete a branch. Its turns stay in the tree of the thread, which is deleted as a whole."""
    await service.delete(principal.user_id, worldline_id)
    return Response(status_code=204)


@router.get(
    "/worldlines/{worldline_id}/compare/{other_worldline_id}",
    operation_id="compare_worldlines",
    responses=problems(404),
)
async def compare_worldlines(
    worldline_id: UUID, other_worldline_id: UUID, resources: ResourcesDep, reader: ThreadReaderDep
) -> WorldlineComparison:
    """Compare two worldlines: turns since their last common one, and tables by schema, rows and values."""
    snapshots = SnapshotReader(resources.database, reader.owner)
    comparisons = WorldlineComparisons(reader, snapshots, resources.computer)
    return await comparisons.compare(worldline_id, other_worldline_id)
