"""Predictions with an owner's models, computed in cells: this process never opens a stored model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.artifacts.model_schemas import PredictionView, TableFormat
from app.artifacts.models import ModelRepository
from app.artifacts.repository import HOLDOUT_KIND, ArtifactRepository
from app.db.tables import ArtifactRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Conflict, InvalidInput
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits

ROWS_CELL_LIMITS = Limits(time_s=120.0)
TABLE_CELL_LIMITS = Limits(time_s=120.0, threads=2)
TABLE_MEDIA_TYPE = "application/vnd.apache.parquet"


@dataclass(frozen=True)
class PredictionTable:
    """A Parquet blob to predict, with the name and id of its dataset or artifact.

    `holdout_of`: the session of which it is the hold-out, None for any other table. `units`: of columns whose
    cells had one, since numbers are stored without.
    """

    digest: str
    name: str
    id: UUID
    holdout_of: UUID | None = None
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictor:
    owner: UUID
    open_uow: OpenUnitOfWork
    computer: ComputationRunner

    async def get_model(self, model_id: UUID) -> ArtifactRow:
        """Return a model. Raises NotFound, also for another owner's and for an artifact that is no model."""
        async with self.open_uow() as uow:
            return await ModelRepository(uow.db, self.owner).get(model_id)

    async def require_reading(self, model: ArtifactRow) -> None:
        """Raise Conflict `reading_changed` if a dataset of the model's session was corrected since."""
        async with self.open_uow() as uow:
            names = await ModelRepository(uow.db, self.owner).corrected_datasets(model)
        if names:
            raise Conflict(
                "reading_changed",
                f"The reading of {', '.join(map(repr, names))} was corrected after {model.name} was trained."
                " Train again, or predict with as_trained=true: cells are then read as they were in training.",
                datasets=names,
            )

    async def get_table(self, artifact_id: UUID) -> PredictionTable:
        """Return an artifact as a table. Raises NotFound, or InvalidInput if it is no Parquet table."""
        async with self.open_uow() as uow:
            row = await ArtifactRepository(uow.db, self.owner).get(artifact_id)
        if row.media_type != TABLE_MEDIA_TYPE:
            raise InvalidInput("not_a_table", f"{row.name} is no table: give a Parquet artifact or a dataset.")
        holdout_of = row.session_id if row.kind == HOLDOUT_KIND else None
        return PredictionTable(row.digest, row.name, row.id, holdout_of)

    async def predict_rows(
        self, model: ArtifactRow, rows: Sequence[Mapping[str, Any]], strict: bool = False
    ) -> PredictionView:
        """Predict JSON rows. Raises InvalidInput with the fault of the rows, or of a cell if `strict`."""
        # A warm cell keeps the model open for this owner's next rows.
        params: dict[str, Any] = {"rows": [dict(row) for row in rows], "strict": strict}
        work = Computation("models.predict.predict", params, trusted=False, warm_for=str(self.owner))
        computed = await self.computer.run(work, {"model": model.digest}, ROWS_CELL_LIMITS)
        return PredictionView.model_validate({**_value(computed), "model_id": model.id})

    async def predict_table(
        self,
        model: ArtifactRow,
        table: PredictionTable,
        form: TableFormat,
        strict: bool = False,
        keep_columns: bool = False,
    ) -> PredictionView:
        """Predict a table; all predictions are stored as an artifact."""
        inputs = {"model": model.digest, "table": table.digest}
        work = table_computation(form, strict=strict, keep_columns=keep_columns, units=dict(table.units))
        computed = await self.computer.run(work, inputs, TABLE_CELL_LIMITS)
        file = computed.file(f"predictions.{form}")
        row = ArtifactRow(
            owner_id=self.owner,
            session_id=None,
            seq=0,
            kind="table",
            name=f"predictions-{model.name}-{table.name}.{form}",
            media_type=file.media_type,
            digest=file.digest,
            size_bytes=file.size_bytes,
            meta={"model_id": str(model.id), "table_id": str(table.id), "rows": _value(computed)["rows"]},
        )
        # After the computation: no transaction stays open while a cell runs.
        async with self.open_uow() as uow:
            uow.db.add(row)
            await uow.db.flush()
            artifact_id = row.id
        return PredictionView.model_validate(
            {**_value(computed), "model_id": model.id, "artifact_id": artifact_id}
        )


def table_computation(form: TableFormat, **params: Any) -> Computation:
    """Make the computation with inputs `model` and `table`; untrusted, since a stored model may run code."""
    return Computation("models.predict_table.predict_table", {"form": form, **params}, trusted=False)


def _value(computed: ComputationResult) -> dict[str, Any]:
    value: Any = computed.value
    return dict(value)
