"""Repository and views of one owner's trained models."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, Text, any_, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.artifacts.model_schemas import ModelDetail, ModelView
from app.db.keyset import ListPage, PageRequest, make_page
from app.db.repository import OwnedRepository
from app.db.tables import ArtifactRow, DatasetRow, SessionRow

_VIEW_FIELDS = ("estimator", "metric", "greater_is_better", "score", "std", "problem")
_DETAIL_FIELDS = (
    *_VIEW_FIELDS,
    "metrics",
    "threshold",
    "hyperparameters",
    "recipe",
    "rows",
    "features",
    "versions",
    "schema",
)

_IS_CHOSEN = func.coalesce(SessionRow.result["model"].as_string() == cast(ArtifactRow.id, Text), False)
_DATASETS = func.array(
    select(DatasetRow.name)
    .where(DatasetRow.id == any_(SessionRow.dataset_ids))
    .order_by(DatasetRow.name)
    .correlate(SessionRow)
    .scalar_subquery()
)
_LIST_COLUMNS = (
    *(
        getattr(ArtifactRow, name)
        for name in ("id", "session_id", "name", "size_bytes", "digest", "created_at")
    ),
    *(ArtifactRow.meta["fit"][name].label(name) for name in _VIEW_FIELDS),
    ArtifactRow.meta["fit"]["fold_count"].label("folds"),
    ArtifactRow.meta["fit"]["folds"]["count"].label("fold_count"),
    _IS_CHOSEN.label("chosen"),
    SessionRow.goal.label("goal"),
    _DATASETS.label("datasets"),
    case((_IS_CHOSEN, SessionRow.result["holdout"])).label("holdout"),
)


class ModelRepository(OwnedRepository[ArtifactRow]):
    row = ArtifactRow
    noun = "model"

    def select_owned(self) -> Select[ArtifactRow]:
        return super().select_owned().where(ArtifactRow.kind == "model")

    async def page_of(self, session_id: UUID | None, portion: PageRequest) -> ListPage[Row[Any]]:
        """Read the columns of a list only: the other facts of fit and result are many times as long."""
        query = self.select_owned()
        if session_id is not None:
            query = query.where(ArtifactRow.session_id == session_id)
        with_session = query.join(SessionRow, SessionRow.id == ArtifactRow.session_id, isouter=True)
        rows = (
            await self.db.execute(self.bound_query(with_session.with_only_columns(*_LIST_COLUMNS), portion))
        ).all()
        return make_page(rows, portion, await self.count(query, portion), lambda row: (row.created_at, row.id))

    async def session_result(self, model: ArtifactRow) -> Mapping[str, Any] | None:
        query = select(SessionRow.result).where(SessionRow.id == model.session_id)
        result: Mapping[str, Any] | None = await self.db.scalar(query)
        return result

    async def session_origin(self, model: ArtifactRow) -> dict[str, Any]:
        """The goal and the names of the datasets of the model's session."""
        query = select(SessionRow.goal.label("goal"), _DATASETS.label("datasets")).where(
            SessionRow.id == model.session_id
        )
        row = (await self.db.execute(query)).one_or_none()
        return dict(row._mapping) if row else {}

    async def corrected_datasets(self, model: ArtifactRow) -> list[str]:
        """Names of the datasets of the model's session whose reading was corrected since the session began."""
        read_at = func.coalesce(SessionRow.datasets_at, SessionRow.created_at)
        query = (
            select(DatasetRow.name)
            .join(SessionRow, DatasetRow.id == any_(SessionRow.dataset_ids))
            .where(SessionRow.id == model.session_id, DatasetRow.reading_changed_at > read_at)
            .order_by(DatasetRow.name)
        )
        return list(await self.db.scalars(query))


async def list_models(
    db: AsyncSession, owner: UUID, session_id: UUID | None, portion: PageRequest
) -> ListPage[ModelView]:
    """List models, newest first."""
    rows = await ModelRepository(db, owner).page_of(session_id, portion)
    return rows.map(lambda row: ModelView.model_validate(row._mapping))


async def get_model(db: AsyncSession, owner: UUID, model_id: UUID) -> ModelDetail:
    """Return a model. Raises NotFound, also for another owner's and for an artifact that is no model."""
    models = ModelRepository(db, owner)
    row = await models.get(model_id)
    facts = _model_fields(row, await models.session_result(row), _DETAIL_FIELDS)
    return ModelDetail.model_validate({**facts, **await models.session_origin(row)})


def _model_fields(row: ArtifactRow, result: Mapping[str, Any] | None, fields: Sequence[str]) -> dict[str, Any]:
    """Return a model's fields from fit and session; `holdout` only for the model that the session chose."""
    fit = row.meta.get("fit", {})
    is_chosen = bool(result and result.get("model") == str(row.id))
    return {
        **{key: fit[key] for key in fields if key in fit},
        # A refit keeps the facts of the fit that was judged, beside the rows that it learned from itself.
        **({"rows": fit["learned_rows"]} if "rows" in fields and fit.get("learned_rows") else {}),
        "folds": fit.get("fold_count"),
        "fold_count": (fit.get("folds") or {}).get("count"),
        "id": row.id,
        "session_id": row.session_id,
        "name": row.name,
        "size_bytes": row.size_bytes,
        "digest": row.digest,
        "created_at": row.created_at,
        "chosen": is_chosen,
        "holdout": result.get("holdout") if is_chosen and result else None,
    }
