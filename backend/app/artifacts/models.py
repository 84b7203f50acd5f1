"""Trained models of one owner: what they are, and predictions with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.artifacts.model_schemas import ModelDetail, ModelView, PredictionView
from app.db.repository import OwnedRepository
from app.db.tables import ArtifactRow, SessionRow
from app.db.unit_of_work import OpenUnitOfWork
from app.sandbox.computer import Computed, Computer
from app.sandbox.contract import Computation, Limits

PREDICT_LIMITS = Limits(time_s=120.0)
_VIEWED = ("estimator", "metric", "greater_is_better", "score", "std", "problem")
_DETAILED = (
    *_VIEWED,
    "metrics",
    "threshold",
    "hyperparameters",
    "recipe",
    "rows",
    "features",
    "versions",
    "schema",
)


class ModelRepository(OwnedRepository[ArtifactRow]):
    row = ArtifactRow
    noun = "model"

    def mine(self) -> Select[ArtifactRow]:
        return super().mine().where(ArtifactRow.kind == "model")

    async def page_of(
        self, session_id: UUID | None, limit: int, offset: int
    ) -> tuple[Sequence[tuple[ArtifactRow, Mapping[str, Any] | None]], int]:
        """Models, newest first, each with its session's result; and how many there are."""
        query = self.mine()
        if session_id is not None:
            query = query.where(ArtifactRow.session_id == session_id)
        total = await self.db.scalar(select(func.count()).select_from(query.subquery()))
        newest = (
            query.join(SessionRow, SessionRow.id == ArtifactRow.session_id, isouter=True)
            .add_columns(SessionRow.result)
            .order_by(ArtifactRow.created_at.desc(), ArtifactRow.id)
        )
        found = await self.db.execute(newest.limit(limit).offset(offset))
        return [(model, result) for model, result in found], int(total or 0)

    async def result_of(self, model: ArtifactRow) -> Mapping[str, Any] | None:
        query = select(SessionRow.result).where(SessionRow.id == model.session_id)
        result: Mapping[str, Any] | None = await self.db.scalar(query)
        return result


async def list_models(
    db: AsyncSession, owner: UUID, session_id: UUID | None, limit: int, offset: int
) -> tuple[list[ModelView], int]:
    rows, total = await ModelRepository(db, owner).page_of(session_id, limit, offset)
    return [ModelView.model_validate(_facts(row, result, _VIEWED)) for row, result in rows], total


async def get_model(db: AsyncSession, owner: UUID, model_id: UUID) -> ModelDetail:
    """Raises NotFound, also for somebody else's and for an artifact that is no model."""
    models = ModelRepository(db, owner)
    row = await models.get(model_id)
    return ModelDetail.model_validate(_facts(row, await models.result_of(row), _DETAILED))


def _facts(row: ArtifactRow, result: Mapping[str, Any] | None, wanted: Sequence[str]) -> dict[str, Any]:
    """What fit and session say of a model; `holdout` only for the one that the session chose and judged."""
    fit = row.meta.get("fit", {})
    chosen = bool(result and result.get("model") == str(row.id))
    return {
        **{key: fit[key] for key in wanted if key in fit},
        "id": row.id,
        "session_id": row.session_id,
        "name": row.name,
        "size_bytes": row.size_bytes,
        "digest": row.digest,
        "created_at": row.created_at,
        "chosen": chosen,
        "holdout": result.get("holdout") if chosen and result else None,
    }


@dataclass(frozen=True)
class Predictor:
    """Predicts with the owner's models, in cells: a stored model is never opened in this process."""

    owner: UUID
    open_uow: OpenUnitOfWork
    computer: Computer

    async def rows(self, model_id: UUID, rows: Sequence[Mapping[str, Any]]) -> PredictionView:
        """Predictions of JSON rows; raises NotFound, or InvalidInput naming what is wrong with the rows."""
        model = await self._model(model_id)
        params = {"rows": [dict(row) for row in rows]}
        # From a cell that keeps the model open for this owner's next rows.
        computed = await self._run(model, params, {}, kept_for=str(self.owner))
        return PredictionView.model_validate({**_value(computed), "model_id": model_id})

    async def table(self, model_id: UUID, digest: str, name: str) -> PredictionView:
        """Predictions of a whole table; all of them are kept as an artifact."""
        model = await self._model(model_id)
        computed = await self._run(model, {}, {"table": digest})
        kept = computed.file("predictions.parquet")
        row = ArtifactRow(
            owner_id=self.owner,
            session_id=None,
            seq=0,
            kind="table",
            name=f"predictions-{model.name}-{name}.parquet",
            media_type=kept.media_type,
            digest=kept.digest,
            size_bytes=kept.size_bytes,
            meta={"model_id": str(model_id), "rows": _value(computed)["rows"]},
        )
        async with self.open_uow() as uow:
            uow.db.add(row)
            await uow.db.flush()
            artifact_id = row.id
        return PredictionView.model_validate(
            {**_value(computed), "model_id": model_id, "artifact_id": artifact_id}
        )

    async def _model(self, model_id: UUID) -> ArtifactRow:
        async with self.open_uow() as uow:
            return await ModelRepository(uow.db, self.owner).get(model_id)

    async def _run(
        self,
        model: ArtifactRow,
        params: Mapping[str, Any],
        inputs: Mapping[str, str],
        kept_for: str | None = None,
    ) -> Computed:
        # Not trusted: a stored model is opened only where it could do no harm.
        work = Computation("predict.predict", params, trusted=False, kept_for=kept_for)
        return await self.computer.run(work, {"model": model.digest, **inputs}, PREDICT_LIMITS)


def _value(computed: Computed) -> dict[str, Any]:
    value: Any = computed.value
    return dict(value)
