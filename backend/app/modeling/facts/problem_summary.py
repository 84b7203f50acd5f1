"""A problem as it is stored with models and results."""

from pydantic import BaseModel, ConfigDict, Field

from app.json_types import JsonScalar
from app.modeling.problem.kinds import OutlookName, ProblemKindName


class ProblemSummary(BaseModel):
    """The problem that models solve. Members that later or earlier versions write are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", json_schema_serialization_defaults_required=True)

    target: str
    kind: ProblemKindName | None = None
    metric: str | None = None
    classes: list[JsonScalar] | None = None
    positive_class: JsonScalar = None
    time_column: str | None = None
    group_column: str | None = None
    horizon: int | None = Field(default=None, description="Number of rows to predict ahead.")
    every_step: bool = Field(default=False, description="Each row up to the horizon is predicted.")
    outlook: OutlookName | None = None
    exclude: list[str] = Field(default_factory=list, description="Columns that are not used.")
