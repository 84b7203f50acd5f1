"""The order of a run that predicts a table."""

from uuid import UUID

from pydantic import BaseModel, Field

from app.artifacts.model_schemas import TableFormat


class PredictionOrder(BaseModel):
    """`model` and `table`: digests of their blobs. `model_id`: the artifact; None in runs from before forks.

    `units`: of columns of the table whose cells had one.
    """

    model: str
    model_id: UUID | None = None
    table: str
    format: TableFormat
    strict: bool = False
    keep_columns: bool = False
    units: dict[str, str] = Field(default_factory=dict)
