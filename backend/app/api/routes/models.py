"""Trained models, and predictions with them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from app.api.deps import (
    NEEDS_ROOM,
    IdempotencyKey,
    KeyedPageDep,
    Page,
    PrincipalDep,
    ResourcesDep,
    UowDep,
    keyed_page,
)
from app.api.openapi import problems
from app.api.session_deps import session_service
from app.artifacts import models
from app.artifacts.model_schemas import (
    ModelDetail,
    ModelView,
    PredictionRequest,
    PredictionView,
    TablePrediction,
)
from app.artifacts.predictions import PredictionTable, Predictor
from app.datasets.repository import DatasetRepository
from app.runs.schemas import GRAPH, PredictionOrder, PredictionRun, RunStatus, RunStatusView
from app.sessions.service import SessionService

router = APIRouter(prefix="/models", tags=["models"], responses=problems(401))


async def _predictor(principal: PrincipalDep, resources: ResourcesDep) -> Predictor:
    return Predictor(principal.user_id, resources.open_uow, resources.computer)


async def _run_service(resources: ResourcesDep) -> SessionService:
    return session_service(resources, GRAPH)


PredictorDep = Annotated[Predictor, Depends(_predictor)]
RunServiceDep = Annotated[SessionService, Depends(_run_service)]


@router.get("", operation_id="list_models")
async def list_models(
    principal: PrincipalDep, page: KeyedPageDep, uow: UowDep, session_id: UUID | None = None
) -> Page[ModelView]:
    """Every fitted candidate, newest first; `chosen` marks the one that its session settled on."""
    return keyed_page(page, await models.list_models(uow.db, principal.user_id, session_id, page.portion))


@router.get("/{model_id}", operation_id="get_model", responses=problems(404))
async def get_model(model_id: UUID, principal: PrincipalDep, uow: UowDep) -> ModelDetail:
    """What it predicts, the columns that it takes, and how it was made. Its file: `/artifacts/{model_id}`."""
    return await models.get_model(uow.db, principal.user_id, model_id)


@router.post("/{model_id}/predict", operation_id="predict", responses=problems(404), dependencies=[NEEDS_ROOM])
async def predict(model_id: UUID, request: PredictionRequest, predictor: PredictorDep) -> PredictionView:
    """Rows that lack a column or hold a wrong type are refused, naming the nearest columns; extra columns,
    unseen categories and values out of range are warned of. A large table: `/models/{model_id}/predictions`."""
    if request.rows is not None:
        return await predictor.predict_rows(model_id, request.rows)
    return await predictor.predict_table(model_id, await _table(request, predictor), request.format)


@router.post(
    "/{model_id}/predictions",
    status_code=201,
    operation_id="predict_table",
    responses=problems(404, 409),
    dependencies=[NEEDS_ROOM],
)
async def predict_table(
    model_id: UUID,
    wanted: TablePrediction,
    principal: PrincipalDep,
    predictor: PredictorDep,
    service: RunServiceDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> RunStatusView:
    """Start to predict a table of any length, as a run: watch or cancel it there; its artifact holds a row for
    each row of the table. What is wrong with the columns is said before anything is predicted."""
    model = await predictor.get_model(model_id)
    table = await _table(wanted, predictor)
    order = PredictionOrder(model=model.digest, table=table.digest, format=wanted.format)
    run = PredictionRun(
        goal=f"Predict {table.name} with {model.name}",
        dataset_ids=[wanted.dataset_id] if wanted.dataset_id else [],
        order=order,
    )
    created = await service.create(principal.user_id, run, idempotency_key)
    response.headers["Location"] = f"{request.url.path.partition('/models/')[0]}/runs/{created.id}"
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


async def _table(wanted: TablePrediction, predictor: Predictor) -> PredictionTable:
    if wanted.artifact_id is not None:
        return await predictor.get_table(wanted.artifact_id)
    async with predictor.open_uow() as uow:
        dataset = await DatasetRepository(uow.db, predictor.owner).get(wanted.dataset_id)  # type: ignore[arg-type]  # one of both is given
    return PredictionTable(dataset.digest, dataset.name, dataset.id)
