"""Trained models, and predictions with them."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.idempotency import IdempotencyKey
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import ResourcesDep, UowDep
from app.api.dependencies.sessions import LooksDep, session_service
from app.api.dependencies.storage_quota import CHECK_STORAGE
from app.api.openapi.document import problems
from app.artifacts import models
from app.artifacts.model_schemas import (
    ModelDetail,
    ModelView,
    PredictionRequest,
    PredictionView,
    TablePrediction,
)
from app.artifacts.predictions import PredictionTable, Predictor
from app.datasets.file_readings import get_reading
from app.datasets.repository import DatasetRepository
from app.db.tables import ArtifactRow
from app.program_runs.prediction_order import PredictionOrder
from app.program_runs.schemas import GRAPH, PredictionRun, RunStatus, RunStatusView
from app.sessions.holdout_looks import AFTER_END, HoldoutLooks, LookKind
from app.sessions.service import SessionService

router = APIRouter(prefix="/models", tags=["models"], responses=problems(401))


async def _predictor(principal: PrincipalDep, resources: ResourcesDep) -> Predictor:
    return Predictor(principal.user_id, resources.open_uow, resources.computer)


async def _run_service(resources: ResourcesDep) -> SessionService:
    return session_service(resources, GRAPH)


AsTrained = Annotated[
    bool, Query(description="Predict although the reading of the training data was corrected since.")
]
PredictorDep = Annotated[Predictor, Depends(_predictor)]
RunServiceDep = Annotated[SessionService, Depends(_run_service)]


@router.get("", operation_id="list_models")
async def list_models(
    principal: PrincipalDep, page: KeyedPageDep, uow: UowDep, session_id: UUID | None = None
) -> Page[ModelView]:
    """List fitted candidates, newest first. `chosen` marks the final model of its session."""
    return keyed_page(page, await models.list_models(uow.db, principal.user_id, session_id, page.portion))


@router.get("/{model_id}", operation_id="get_model", responses=problems(404))
async def get_model(model_id: UUID, principal: PrincipalDep, uow: UowDep) -> ModelDetail:
    """Describe a model: target, input columns, training. Its file is at `/artifacts/{model_id}`."""
    return await models.get_model(uow.db, principal.user_id, model_id)


@router.post(
    "/{model_id}/predict", operation_id="predict", responses=problems(404, 409), dependencies=[CHECK_STORAGE]
)
async def predict(
    model_id: UUID,
    request: PredictionRequest,
    predictor: PredictorDep,
    looks: LooksDep,
    as_trained: AsTrained = False,
) -> PredictionView:
    """Predict rows. Text cells are read as those of the training file. Missing columns are refused, with
    similar column names; extra columns, unseen categories and values out of range are warnings. A cell that
    cannot be read is a missing value, listed in `problems`, or refused if `strict`. Large tables:
    `/models/{model_id}/predictions`."""
    model = await _model(predictor, model_id, as_trained)
    if request.rows is not None:
        return await predictor.predict_rows(model, request.rows, request.strict)
    table = await _table(request, predictor, looks)
    return await predictor.predict_table(model, table, request.format, request.strict, request.keep_columns)


@router.post(
    "/{model_id}/predictions",
    status_code=201,
    operation_id="predict_table",
    responses=problems(404, 409),
    dependencies=[CHECK_STORAGE],
)
async def predict_table(
    model_id: UUID,
    body: TablePrediction,
    principal: PrincipalDep,
    predictor: PredictorDep,
    looks: LooksDep,
    service: RunServiceDep,
    request: Request,
    response: Response,
    idempotency_key: IdempotencyKey = None,
    as_trained: AsTrained = False,
) -> RunStatusView:
    """Start a run that predicts a table of any length; its artifact holds one row for each row of the table.
    Problems of the columns are reported before the run starts."""
    model = await _model(predictor, model_id, as_trained)
    table = await _table(body, predictor, looks)
    order = PredictionOrder(
        model=model.digest,
        model_id=model.id,
        table=table.digest,
        format=body.format,
        strict=body.strict,
        keep_columns=body.keep_columns,
        units=dict(table.units),
    )
    run = PredictionRun(
        goal=f"Predict {table.name} with {model.name}",
        dataset_ids=[body.dataset_id] if body.dataset_id else [],
        order=order,
    )
    created = await service.create(principal.user_id, run, idempotency_key)
    response.headers["Location"] = f"{request.url.path.partition('/models/')[0]}/runs/{created.id}"
    return RunStatusView(id=created.id, status=RunStatus.QUEUED)


async def _model(predictor: Predictor, model_id: UUID, as_trained: bool) -> ArtifactRow:
    """Return a model. Raises NotFound, and Conflict if the reading of its data was corrected since."""
    model = await predictor.get_model(model_id)
    if not as_trained:
        await predictor.require_reading(model)
    return model


async def _table(body: TablePrediction, predictor: Predictor, looks: HoldoutLooks) -> PredictionTable:
    if body.artifact_id is not None:
        table = await predictor.get_table(body.artifact_id)
        if table.holdout_of is not None:
            await looks.count(table.holdout_of, AFTER_END, LookKind.PREDICT)
        return table
    async with predictor.open_uow() as uow:
        dataset = await DatasetRepository(uow.db, predictor.owner).get(body.dataset_id)  # type: ignore[arg-type]  # exactly one of both is set
    units = {column.column: column.unit for column in get_reading(dataset).columns if column.unit}
    return PredictionTable(dataset.digest, dataset.name, dataset.id, units=units)
