"""Trained models, and predictions with them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends

from app.api.deps import PageDep, PageOf, PrincipalDep, ResourcesDep, UowDep
from app.api.openapi import problems
from app.artifacts import models
from app.artifacts.model_schemas import ModelDetail, ModelView, PredictionRequest, PredictionView
from app.artifacts.models import Predictor
from app.datasets.repository import DatasetRepository

router = APIRouter(prefix="/models", tags=["models"], responses=problems(401))


async def _predictor(principal: PrincipalDep, resources: ResourcesDep) -> Predictor:
    return Predictor(principal.user_id, resources.open_uow, resources.computer)


PredictorDep = Annotated[Predictor, Depends(_predictor)]


@router.get("", operation_id="list_models")
async def list_models(
    principal: PrincipalDep, page: PageDep, uow: UowDep, session_id: UUID | None = None
) -> PageOf[ModelView]:
    """Every fitted candidate, newest first; `chosen` marks the one that its session settled on."""
    items, total = await models.list_models(uow.db, principal.user_id, session_id, page.limit, page.offset)
    return PageOf(items=items, total=total, limit=page.limit, offset=page.offset)


@router.get("/{model_id}", operation_id="get_model", responses=problems(404))
async def get_model(model_id: UUID, principal: PrincipalDep, uow: UowDep) -> ModelDetail:
    """What it predicts, the columns that it takes, and how it was made. Its file: `/artifacts/{model_id}`."""
    return await models.get_model(uow.db, principal.user_id, model_id)


@router.post("/{model_id}/predict", operation_id="predict", responses=problems(404, 503))
async def predict(
    model_id: UUID,
    request: PredictionRequest,
    principal: PrincipalDep,
    predictor: PredictorDep,
    resources: ResourcesDep,
) -> PredictionView:
    """Rows that lack a column or hold a wrong type are refused, naming the nearest columns; extra columns,
    unseen categories and values out of range are warned of."""
    if request.rows is not None:
        return await predictor.rows(model_id, request.rows)
    async with resources.open_uow() as uow:
        dataset = await DatasetRepository(uow.db, principal.user_id).get(request.dataset_id)  # type: ignore[arg-type]  # one of both is given
    return await predictor.table(model_id, dataset.digest, dataset.name)
