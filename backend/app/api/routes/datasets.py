"""Upload a table once; look at its schema and its first rows."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.deletion import RESPONSES, AlsoDerived, DeletionsDep, deletion_response
from app.api.deps import (
    NEEDS_ROOM,
    AuthDep,
    IdempotencyKey,
    KeyedPageDep,
    Page,
    PrincipalDep,
    ResourcesDep,
    UowDep,
    keyed_page,
)
from app.api.openapi import problems
from app.api.uploads import UPLOAD_BODY, received
from app.datasets.repository import DatasetRepository
from app.datasets.schemas import DatasetView, PreviewView, ProfileView
from app.datasets.service import Datasets, Upload, UploadLimits

router = APIRouter(prefix="/datasets", tags=["datasets"], responses=problems(401))


async def _datasets(principal: PrincipalDep, resources: ResourcesDep) -> Datasets:
    return Datasets(
        principal.user_id,
        resources.open_uow,
        resources.computer,
        UploadLimits(max_bytes=resources.settings.upload_max_size_mb << 20),
    )


DatasetsDep = Annotated[Datasets, Depends(_datasets)]


@router.post(
    "",
    status_code=201,
    operation_id="upload_dataset",
    responses=problems(409),
    openapi_extra=UPLOAD_BODY,
    dependencies=[NEEDS_ROOM],
)
async def upload_dataset(
    request: Request,
    response: Response,
    datasets: DatasetsDep,
    resources: ResourcesDep,
    auth_services: AuthDep,
    idempotency_key: IdempotencyKey = None,
) -> DatasetView:
    """Send a table: CSV or TSV of any dialect, Parquet, Excel, JSON or JSON Lines, also compressed.

    As the form's part `file` (with a text `name`, if you like), or as the body itself with `?filename=`.
    """
    folder = resources.settings.home / "uploads"
    async with received(request, folder, datasets.limits.max_bytes) as sent:
        upload = Upload(sent.path, sent.filename, sent.size_bytes, sent.digest, sent.texts.get("name"))
        row = await datasets.add(upload, idempotency_key)
    auth_services.storage_quota.invalidate_user(datasets.owner)
    response.headers["Location"] = f"{request.url.path}/{row.id}"
    return DatasetView.model_validate(row)


@router.get("", operation_id="list_datasets")
async def list_datasets(principal: PrincipalDep, page: KeyedPageDep, uow: UowDep) -> Page[DatasetView]:
    """Newest first."""
    rows = await DatasetRepository(uow.db, principal.user_id).page(page.portion)
    return keyed_page(page, rows.map(DatasetView.model_validate))


@router.get("/{dataset_id}", operation_id="get_dataset", responses=problems(404))
async def get_dataset(dataset_id: UUID, principal: PrincipalDep, uow: UowDep) -> DatasetView:
    return DatasetView.model_validate(await DatasetRepository(uow.db, principal.user_id).get(dataset_id))


@router.get("/{dataset_id}/schema", operation_id="get_dataset_schema", responses=problems(404))
async def get_dataset_schema(dataset_id: UUID, principal: PrincipalDep, uow: UowDep) -> ProfileView:
    """Types, hints and what the columns hold."""
    row = await DatasetRepository(uow.db, principal.user_id).get(dataset_id)
    return ProfileView.model_validate(row.profile)


@router.get("/{dataset_id}/preview", operation_id="preview_dataset", responses=problems(404, 503))
async def preview_dataset(
    dataset_id: UUID,
    datasets: DatasetsDep,
    limit: Annotated[int, Query(ge=1, le=500)] = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> PreviewView:
    """Rows in file order."""
    async with datasets.open_uow() as uow:
        row = await DatasetRepository(uow.db, datasets.owner).get(dataset_id)
    return PreviewView.model_validate(await datasets.preview(row, limit, offset))


@router.delete(
    "/{dataset_id}",
    status_code=204,
    operation_id="delete_dataset",
    response_class=Response,
    responses=RESPONSES,
)
async def delete_dataset(
    dataset_id: UUID,
    principal: PrincipalDep,
    auth_services: AuthDep,
    deletions: DeletionsDep,
    derived: AlsoDerived = None,
) -> Response:
    """Delete an upload, and with `derived=true` every session, run and prediction that it was used for."""
    left = await deletions.delete_dataset(principal.user_id, dataset_id, derived)
    auth_services.storage_quota.invalidate_user(principal.user_id)
    return deletion_response(left)
