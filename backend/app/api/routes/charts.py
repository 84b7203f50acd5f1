"""Charts: their specifications and drawings."""

from typing import Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep, UowDep
from app.api.files.downloads import Download, send_blob
from app.api.openapi.document import problems
from app.artifacts import service
from app.artifacts.schemas import ArtifactView
from app.charts.specification import MEDIA_TYPE
from app.errors import NotFound

router = APIRouter(prefix="/charts", tags=["chat"], responses=problems(401))

_MEDIA_TYPES = {"png": "image/png", "svg": "image/svg+xml"}


@router.get(
    "/{chart_id}",
    operation_id="get_chart",
    response_class=Response,
    responses={
        200: {"description": "A Vega-Lite specification with its rows.", "content": {MEDIA_TYPE: {}}},
        304: {"description": "Not changed: the digest is the ETag."},
        **problems(404, 416),
    },
)
async def get_chart(
    chart_id: UUID, request: Request, principal: PrincipalDep, resources: ResourcesDep, uow: UowDep
) -> Response:
    """Return the Vega-Lite specification of a chart, with its rows."""
    chart = await _find_chart(uow, principal.user_id, chart_id)
    blob = Download(chart.digest, chart.size_bytes, chart.media_type, chart.name)
    return await send_blob(request, resources.blobs, blob)


@router.get(
    "/{chart_id}/{image_format}",
    operation_id="get_chart_image",
    response_class=Response,
    responses={
        200: {"description": "The drawing.", "content": {name: {} for name in _MEDIA_TYPES.values()}},
        304: {"description": "Not changed: the digest is the ETag."},
        **problems(404, 416),
    },
)
async def get_chart_image(
    chart_id: UUID,
    image_format: Literal["png", "svg"],
    request: Request,
    principal: PrincipalDep,
    resources: ResourcesDep,
    uow: UowDep,
) -> Response:
    """Return the drawing of a chart. 404 `chart_not_drawn` says why there is none."""
    chart = await _find_chart(uow, principal.user_id, chart_id)
    digest = chart.meta.get(image_format)
    if digest is None:
        problem = chart.meta.get("problem") or "It was not drawn."
        raise NotFound("chart_not_drawn", f"This chart has no drawing. {problem}")
    size_bytes = await resources.blobs.size(digest)
    name = f"chart.{image_format}"
    blob = Download(digest, size_bytes, _MEDIA_TYPES[image_format], name)
    return await send_blob(request, resources.blobs, blob)


async def _find_chart(uow: UowDep, owner: UUID, chart_id: UUID) -> ArtifactView:
    """Raises NotFound for an artifact of another kind or owner."""
    chart = await service.get_artifact(uow.db, owner, chart_id)
    if chart.kind != "chart":
        raise NotFound("artifact_not_found", f"There is no chart with the id {chart_id}.")
    return chart
