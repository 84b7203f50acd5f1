"""Datasets: upload, schema, preview and deletion."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.deletion import RESPONSES, AlsoDerived, DeletionsDep, deletion_response
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import AuthDep, ResourcesDep, UowDep
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.files.uploads import UPLOAD_BODY, receive_upload
from app.api.openapi.document import problems
from app.api.server.disconnects import run_while_connected
from app.datasets.file_readings import get_reading
from app.datasets.repository import DatasetRepository
from app.datasets.schemas import (
    DatasetChange,
    DatasetView,
    PreviewQuery,
    PreviewView,
    ProfileView,
    ReadingCorrection,
)
from app.datasets.service import Datasets, Upload, UploadLimits
from app.datasets.tables import TableReader
from app.db.tables import DatasetRow
from app.deletion.dataset_uses import DatasetUse, UseKind, list_uses
from app.modeling.facts.column_units import find_unit

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
    dependencies=[CHECK_STORAGE],
)
async def upload_dataset(
    request: Request,
    response: Response,
    datasets: DatasetsDep,
    resources: ResourcesDep,
    auth_services: AuthDep,
    idempotency_key: IdempotencyKey = None,
) -> DatasetView:
    """Upload a table: CSV or TSV of any dialect, Parquet, Excel, JSON or JSON Lines, also compressed.

    Send it as part `file` of a form (with an optional text `name`), or as the body with `?filename=`.
    """
    folder = resources.settings.home / "uploads"
    async with receive_upload(request, folder, datasets.limits.max_bytes) as file:
        upload = Upload(file.path, file.filename, file.size_bytes, file.digest, file.texts.get("name"))
        # Who leaves has cancelled the upload: nothing is stored, and no cell goes on.
        row = await run_while_connected(request, datasets.add(upload, idempotency_key))
    # The next check has to count what was just stored.
    auth_services.storage_quota.invalidate_user(datasets.owner)
    response.headers["Location"] = f"{request.url.path}/{row.id}"
    return DatasetView.model_validate(row)


@router.post("/example", status_code=201, operation_id="add_example_dataset", dependencies=[CHECK_STORAGE])
async def add_example_dataset(
    request: Request, response: Response, datasets: DatasetsDep, auth_services: AuthDep
) -> DatasetView:
    """Add the table that Labcrew ships, 1,313 passengers of the Titanic, or return it if it is there."""
    row = await datasets.add_example()
    auth_services.storage_quota.invalidate_user(datasets.owner)
    response.headers["Location"] = f"{request.url.path.removesuffix('example')}{row.id}"
    return DatasetView.model_validate(row)


@router.get("", operation_id="list_datasets")
async def list_datasets(principal: PrincipalDep, page: KeyedPageDep, uow: UowDep) -> Page[DatasetView]:
    """List datasets, newest first."""
    rows = await DatasetRepository(uow.db, principal.user_id).page(page.portion)
    return keyed_page(page, rows.map(DatasetView.model_validate))


@router.get("/{dataset_id}", operation_id="get_dataset", responses=problems(404))
async def get_dataset(dataset_id: UUID, principal: PrincipalDep, uow: UowDep) -> DatasetView:
    """Describe a dataset: its columns with their types and statistics, its reading and its note."""
    return _describe(await DatasetRepository(uow.db, principal.user_id).get(dataset_id))


@router.patch("/{dataset_id}", operation_id="update_dataset", responses=problems(404, 409))
async def update_dataset(dataset_id: UUID, change: DatasetChange, datasets: DatasetsDep) -> DatasetView:
    """Write a note on a dataset, which its owner reads; no agent and no chat model does."""
    return _describe(await datasets.write_note(dataset_id, change.note, change.former))


def _describe(row: DatasetRow) -> DatasetView:
    """Return a dataset with its reading and the units of its columns."""
    view, reading = DatasetView.model_validate(row), get_reading(row)
    units = {column.name: find_unit(column.name, reading) for column in view.columns}
    columns = [
        column.model_copy(update={"unit": unit.text}) if (unit := units[column.name]) else column
        for column in view.columns
    ]
    return view.model_copy(update={"reading": reading, "columns": columns})


@router.get("/{dataset_id}/schema", operation_id="get_dataset_schema", responses=problems(404))
async def get_dataset_schema(dataset_id: UUID, principal: PrincipalDep, uow: UowDep) -> ProfileView:
    """Return types, hints and statistics of the columns."""
    row = await DatasetRepository(uow.db, principal.user_id).get(dataset_id)
    return ProfileView.model_validate({**row.profile, "reading": get_reading(row)})


@router.patch(
    "/{dataset_id}/schema",
    operation_id="correct_dataset_schema",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def correct_dataset_schema(
    dataset_id: UUID, correction: ReadingCorrection, datasets: DatasetsDep, auth_services: AuthDep
) -> ProfileView:
    """Choose how columns are read, and convert the table again; its digest changes.

    Earlier and running sessions keep the table of before. Models of theirs answer 409 `reading_changed` unless
    `as_trained=true`.
    """
    row = await datasets.correct(dataset_id, correction.columns)
    auth_services.storage_quota.invalidate_user(datasets.owner)
    return ProfileView.model_validate({**row.profile, "reading": get_reading(row)})


@router.get("/{dataset_id}/preview", operation_id="preview_dataset", responses=problems(404, 503))
async def preview_dataset(
    dataset_id: UUID,
    datasets: DatasetsDep,
    query: Annotated[PreviewQuery, Query()],
) -> PreviewView:
    """Return rows in the order of the file, or sorted, filtered and searched.

    POST /tables/query sorts by several columns and takes trees of conditions.
    """
    async with datasets.open_uow() as uow:
        row = await DatasetRepository(uow.db, datasets.owner).get(dataset_id)
    return await TableReader(datasets.owner, datasets.computer).read_page(
        row.digest, query.table_query(dataset_id)
    )


@router.get("/{dataset_id}/uses", operation_id="list_dataset_uses", responses=problems(404))
async def list_dataset_uses(
    dataset_id: UUID,
    principal: PrincipalDep,
    resources: ResourcesDep,
    page: KeyedPageDep,
    kind: Annotated[UseKind | None, Query(description="Only uses of this kind.")] = None,
) -> Page[DatasetUse]:
    """List sessions, threads, models, workflows, runs and prediction tables that use a dataset, newest first.

    `is_derived` says which of them `DELETE /datasets/{id}?derived=true` deletes too.
    """
    uses = await list_uses(resources.database, principal.user_id, dataset_id, kind, page.portion)
    return keyed_page(page, uses)


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
    """Delete a dataset; with `derived=true`, also every session, run and prediction that used it."""
    remaining = await deletions.delete_dataset(principal.user_id, dataset_id, derived)
    auth_services.storage_quota.invalidate_user(principal.user_id)
    return deletion_response(remaining)
