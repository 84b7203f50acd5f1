"""Artifacts of sessions: lists, downloads and deletion."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.deletion import RESPONSES, AlsoDerived, DeletionsDep, deletion_response
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import AuthDep, ResourcesDep, UowDep
from app.api.dependencies.sessions import LooksDep
from app.api.files.downloads import Download, send_blob
from app.api.openapi.document import problems
from app.artifacts import service
from app.artifacts.repository import HOLDOUT_KIND, ArtifactSelection
from app.artifacts.schemas import ArtifactView
from app.sessions.holdout_looks import AFTER_END, LookKind

router = APIRouter(prefix="/artifacts", tags=["artifacts"], responses=problems(401))


@router.get("", operation_id="list_artifacts")
async def list_artifacts(
    principal: PrincipalDep,
    page: KeyedPageDep,
    uow: UowDep,
    session_id: UUID | None = None,
    kind: Annotated[str | None, Query(max_length=40, examples=["figure"])] = None,
    thread_id: Annotated[UUID | None, Query(description="Those of all turns of a conversation.")] = None,
    worldline_id: Annotated[
        UUID | None, Query(description="Those of the turns from the root of a worldline to its head.")
    ] = None,
) -> Page[ArtifactView]:
    """List artifacts, newest first. The locked hold-out appears after the end of its session."""
    selection = ArtifactSelection(session_id, kind, thread_id, worldline_id)
    return keyed_page(page, await service.list_artifacts(uow.db, principal.user_id, selection, page.portion))


@router.get("/{artifact_id}/info", operation_id="get_artifact_info", responses=problems(404))
async def get_artifact_info(artifact_id: UUID, principal: PrincipalDep, uow: UowDep) -> ArtifactView:
    """Describe an artifact. Its bytes are at `/artifacts/{id}`."""
    return await service.get_artifact(uow.db, principal.user_id, artifact_id)


@router.head("/{artifact_id}", include_in_schema=False)
@router.get(
    "/{artifact_id}",
    operation_id="get_artifact",
    response_class=Response,
    responses={
        **problems(404, 416),
        206: {"description": "The requested range."},
        304: {"description": "Not changed: the digest is the ETag."},
    },
)
async def get_artifact(
    artifact_id: UUID,
    request: Request,
    principal: PrincipalDep,
    resources: ResourcesDep,
    uow: UowDep,
    looks: LooksDep,
    download: bool = False,
) -> Response:
    """Download an artifact or one range of it. `download` makes browsers save instead of display it.

    A download of a hold-out counts as a look at it, once for its session.
    """
    artifact = await service.get_artifact(uow.db, principal.user_id, artifact_id)
    # HEAD hands out no rows.
    if artifact.kind == HOLDOUT_KIND and artifact.session_id and request.method == "GET":
        await looks.count(artifact.session_id, AFTER_END, LookKind.DOWNLOAD)
    blob = Download(artifact.digest, artifact.size_bytes, artifact.media_type, artifact.name)
    return await send_blob(request, resources.blobs, blob, attach=download)


@router.delete(
    "/{artifact_id}",
    status_code=204,
    operation_id="delete_artifact",
    response_class=Response,
    responses=RESPONSES,
)
async def delete_artifact(
    artifact_id: UUID,
    principal: PrincipalDep,
    auth_services: AuthDep,
    deletions: DeletionsDep,
    derived: AlsoDerived = None,
) -> Response:
    """Delete an artifact of an ended session; with `derived=true`, also the predictions of a model."""
    remaining = await deletions.delete_artifact(principal.user_id, artifact_id, derived)
    auth_services.storage_quota.invalidate_user(principal.user_id)
    return deletion_response(remaining)
