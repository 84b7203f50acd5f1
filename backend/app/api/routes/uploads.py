"""Uploads in pieces, which go on where a lost connection ended them."""

import asyncio
import contextlib
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import AuthDep, ResourcesDep
from app.api.files.multipart_form import plain_filename
from app.api.openapi.document import problems
from app.api.routes.datasets import DatasetsDep
from app.datasets.partial_uploads import PartialUpload, PartialUploads
from app.datasets.schemas import DatasetView
from app.datasets.service import Upload
from app.errors import InvalidInput, NotFound, TooLarge

router = APIRouter(prefix="/uploads", tags=["datasets"], responses=problems(401))

_PIECE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class UploadCreate(BaseModel):
    """A file that will come in pieces."""

    model_config = ConfigDict(extra="forbid")

    filename: str = Field(min_length=1, max_length=1000, pattern=r"^[^\x00]*$", examples=["titanic.csv"])
    size_bytes: int = Field(ge=0, le=2**53, examples=[54_758])


class UploadView(BaseModel):
    """An upload: `offset` bytes of `size_bytes` are here, and the next piece begins there."""

    id: UUID
    filename: str
    offset: int
    size_bytes: int


async def _uploads(principal: PrincipalDep, resources: ResourcesDep) -> PartialUploads:
    return PartialUploads(principal.user_id, resources.settings.home / "uploads")


UploadsDep = Annotated[PartialUploads, Depends(_uploads)]


def _view(upload: PartialUpload) -> UploadView:
    return UploadView(
        id=upload.id, filename=upload.filename, offset=upload.offset, size_bytes=upload.size_bytes
    )


@router.post("", status_code=201, operation_id="begin_upload")
async def begin_upload(
    body: UploadCreate,
    uploads: UploadsDep,
    datasets: DatasetsDep,
    principal: PrincipalDep,
    auth_services: AuthDep,
) -> UploadView:
    """Begin an upload in pieces. What is not finished is removed a day after its last piece.

    Its pieces are on the host that took them: behind several, send all to the same one.
    """
    if body.size_bytes > datasets.limits.max_bytes:
        raise TooLarge(
            "upload_too_large",
            f"The file is larger than the limit of {datasets.limits.max_bytes:,} bytes.",
            limit_bytes=datasets.limits.max_bytes,
        )
    # With the uploads that have begun, which together could exceed the quota.
    more_bytes = body.size_bytes + await asyncio.to_thread(uploads.announced_bytes)
    await auth_services.storage_quota.require(principal, more_bytes)
    return _view(await asyncio.to_thread(uploads.begin, plain_filename(body.filename), body.size_bytes))


@router.get("/{upload_id}", operation_id="get_upload", responses=problems(404))
async def get_upload(upload_id: UUID, uploads: UploadsDep) -> UploadView:
    """Say how much of an upload is here."""
    return _view(await asyncio.to_thread(uploads.get, upload_id))


@router.put("/{upload_id}", operation_id="continue_upload", responses=problems(404, 409), openapi_extra=_PIECE)
async def continue_upload(
    upload_id: UUID,
    request: Request,
    uploads: UploadsDep,
    offset: Annotated[int, Query(ge=0, le=2**53, description="Of the first byte of this piece.")] = 0,
) -> UploadView:
    """Send the next piece, of any size. What has arrived of one that was cut counts.

    409 `offset_differs` says where the next piece begins.
    """
    upload = await asyncio.to_thread(uploads.get, upload_id)
    # Each part as it arrives: the server hands out nothing more of a connection that was cut.
    async for part in request.stream():
        if part:
            await asyncio.to_thread(upload.append, offset, part)
            offset += len(part)
    return _view(upload)


@router.post(
    "/{upload_id}/dataset",
    status_code=201,
    operation_id="finish_upload",
    responses=problems(404, 409),
)
async def finish_upload(
    upload_id: UUID,
    request: Request,
    response: Response,
    uploads: UploadsDep,
    datasets: DatasetsDep,
    principal: PrincipalDep,
    auth_services: AuthDep,
) -> DatasetView:
    """Read a complete upload as a table. Repeated, it returns the same dataset."""
    key = f"upload:{upload_id}"
    try:
        upload = await asyncio.to_thread(uploads.get, upload_id)
        digest = await asyncio.to_thread(upload.digest)
        # Since it began, other uploads and artifacts may have taken the bytes that were free then.
        await auth_services.storage_quota.require(principal, upload.size_bytes)
        row = await datasets.add(Upload(upload.path, upload.filename, upload.size_bytes, digest), key)
    except (NotFound, FileNotFoundError) as error:
        # An earlier or concurrent request has finished it, and deleted its file.
        finished = await datasets.find_by_key(key)
        if finished is None:
            raise NotFound("upload_not_found", f"There is no upload with the id {upload_id}.") from error
        row = finished
    except (InvalidInput, TooLarge):
        await _delete(uploads, upload_id)  # no further piece makes a table of it
        raise
    await _delete(uploads, upload_id)
    auth_services.storage_quota.invalidate_user(datasets.owner)
    response.headers["Location"] = f"{request.url.path.partition('/uploads/')[0]}/datasets/{row.id}"
    return DatasetView.model_validate(row)


async def _delete(uploads: PartialUploads, upload_id: UUID) -> None:
    with contextlib.suppress(NotFound):  # a concurrent request has deleted it
        await asyncio.to_thread(uploads.delete, upload_id)


@router.delete(
    "/{upload_id}",
    status_code=204,
    operation_id="delete_upload",
    response_class=Response,
    responses=problems(404),
)
async def delete_upload(upload_id: UUID, uploads: UploadsDep) -> Response:
    """Give an upload up."""
    await asyncio.to_thread(uploads.delete, upload_id)
    return Response(status_code=204)
