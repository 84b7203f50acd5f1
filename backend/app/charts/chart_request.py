"""The request for a chart: its kind, the plan of its rows, and the columns of its axes."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.plans.expressions import Name
from app.plans.plan_document import PlanDocument

ChartKind = Literal["bar", "line", "area", "scatter", "histogram", "box", "heatmap"]
MAX_SERIES = 8
"""Measures of one chart: more colours are not told apart."""
MAX_MOVING_ROWS = 1_000
"""Rows of a moving average: close to three years of days."""


class ChartRequest(BaseModel):
    """A chart of the rows of a plan. Columns that are left out are chosen by their types.

    `x`: categories, times or numbers. `y`: measures. `color`: one series for each value; of a heatmap the
    measure. A heatmap without columns shows the correlations of all numbers. `moving_average`: rows of a
    mean that a line adds to its measure.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: ChartKind
    plan: PlanDocument
    x: Name | None = None
    y: Annotated[list[Name], Field(max_length=MAX_SERIES)] = Field(default_factory=list)
    color: Name | None = None
    title: Annotated[str, Field(max_length=200)] | None = None
    moving_average: Annotated[int, Field(ge=2, le=MAX_MOVING_ROWS)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.moving_average is not None and self.kind not in ("line", "area"):
            raise ValueError("a moving average belongs to a line or an area")
        return self
