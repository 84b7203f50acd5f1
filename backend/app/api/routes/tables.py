"""Tables: pages of rows, distributions and figures by groups, for grids and charts."""

from dataclasses import dataclass
from typing import Annotated, cast
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import LooksDep
from app.api.files.downloads import Download, send_blob
from app.api.openapi.document import problems
from app.artifacts import service as artifacts
from app.artifacts.predictions import TABLE_MEDIA_TYPE
from app.artifacts.repository import HOLDOUT_KIND
from app.datasets.repository import DatasetRepository
from app.datasets.schemas import PreviewView
from app.datasets.table_requests import (
    TableAggregateRequest,
    TableExportRequest,
    TableQuery,
    TableSource,
    TableSummaryRequest,
)
from app.datasets.table_views import TableAggregateView, TableSummaryView
from app.datasets.tables import TableReader
from app.errors import InvalidInput
from app.resources import Resources
from app.sessions.holdout_looks import AFTER_END, HoldoutLooks, LookKind

router = APIRouter(prefix="/tables", tags=["tables"], responses=problems(401, 404))


@dataclass(frozen=True)
class _SourceReader:
    """Finds the tables of one caller."""

    owner: UUID
    resources: Resources
    looks: HoldoutLooks

    async def find_digest(self, source: TableSource) -> str:
        """Return the digest of a source's Parquet file. Raises NotFound, also for another owner's.

        In a transaction of its own, which has ended when the cell begins.
        """
        async with self.resources.open_uow() as uow:
            if source.dataset_id is not None:
                return (await DatasetRepository(uow.db, self.owner).get(source.dataset_id)).digest
            artifact = await artifacts.get_artifact(uow.db, self.owner, cast(UUID, source.artifact_id))
        if artifact.media_type != TABLE_MEDIA_TYPE:
            raise InvalidInput("not_a_table", f"{artifact.name!r} is no table but {artifact.media_type}.")
        if artifact.kind == HOLDOUT_KIND and artifact.session_id:
            await self.looks.count(artifact.session_id, AFTER_END, LookKind.DOWNLOAD)
        return artifact.digest


async def _sources(principal: PrincipalDep, resources: ResourcesDep, looks: LooksDep) -> _SourceReader:
    return _SourceReader(principal.user_id, resources, looks)


async def _tables(principal: PrincipalDep, resources: ResourcesDep) -> TableReader:
    return TableReader(principal.user_id, resources.computer)


SourcesDep = Annotated[_SourceReader, Depends(_sources)]
ReaderDep = Annotated[TableReader, Depends(_tables)]


@router.post("/query", operation_id="query_table")
async def query_table(query: TableQuery, tables: ReaderDep, sources: SourcesDep) -> PreviewView:
    """Return a page of a table's rows: sorted, filtered and searched.

    The rows of a hold-out count as a look at it, once for its session.
    """
    return await tables.read_page(await sources.find_digest(query.source), query)


@router.get(
    "/csv",
    operation_id="export_table",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}}, **problems(422)},
)
async def export_table(
    request: Request,
    export: Annotated[TableExportRequest, Query()],
    tables: ReaderDep,
    sources: SourcesDep,
    resources: ResourcesDep,
) -> Response:
    """Download all rows of a table as delimited text, every cell whole.

    A text that a spreadsheet would carry out as a formula gets an apostrophe before it; numbers stay as they
    are. The rows of a hold-out count as a look at it, once for its session.
    """
    file = await tables.write_csv(await sources.find_digest(export), export)
    download = Download(file.digest, file.size_bytes, "text/csv; charset=utf-8", file.name)
    return await send_blob(request, resources.blobs, download, attach=True)


@router.post("/summary", operation_id="summarize_table")
async def summarize_table(
    request: TableSummaryRequest, tables: ReaderDep, sources: SourcesDep
) -> TableSummaryView:
    """Return the distribution of each column over the selected rows."""
    return await tables.summarize(await sources.find_digest(request.source), request)


@router.post("/aggregate", operation_id="aggregate_table")
async def aggregate_table(
    request: TableAggregateRequest, tables: ReaderDep, sources: SourcesDep
) -> TableAggregateView:
    """Return figures by groups of the selected rows."""
    return await tables.aggregate(await sources.find_digest(request.source), request)
