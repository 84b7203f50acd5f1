"""SELECT statements that produce the plan's table.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.queries.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from app.agents.goals.periods.forecast_horizon import AnswerForm
from app.agents.goals.periods.time_axis import Period, TimeAxis
from app.plans.identifiers import quote_identifier

PeriodMeasure = Literal["count", "distinct", "sum", "mean", "maximum", "value"]
GroupRanking = Literal["most", "least"]
"""Order of several series by their forecasts: the highest or the lowest first."""


class NumberText(BaseModel):
    """Numbers as text: the decimal sign, and the sign between thousands."""

    model_config = ConfigDict(extra="forbid")

    decimal: Literal[".", ","] = "."
    group: Literal["", ",", ".", " ", "'"] = ","


class ForecastBound(BaseModel):
    """A number that the forecast of each period is compared with: "above 15,000 each day"."""

    model_config = ConfigDict(extra="forbid")

    sign: Literal[">", ">=", "<", "<="]
    value: float


class PeriodAggregation(BaseModel):
    """A series of periods: the rows of each period or their different values counted, or a column summed,
    averaged or taken as it is.

    `time`: name of the series' column of periods, one every `step` units of `every`. `keys`: columns whose
    values tell several series apart. `answer`: what of the forecast is asked for.
    """

    model_config = ConfigDict(extra="forbid")

    measure: PeriodMeasure
    column: str | None = None
    """None for a count of rows, and for the values of period columns."""
    time: str
    every: Period
    step: int = Field(default=1, ge=1)
    keys: list[str] = Field(default_factory=list, max_length=10)
    # Left out of the schema: a chat model reshapes such tables with SQL of its own.
    axis: SkipJsonSchema[TimeAxis | None] = None
    """The columns that tell the period; `time` itself if None."""
    number: SkipJsonSchema[NumberText | None] = None
    """How numbers that are stored as text are written."""
    answer: AnswerForm = "each_period"
    skipped_periods: SkipJsonSchema[int] = Field(default=0, ge=0)
    """Periods of the forecast that the answer leaves out at its beginning."""
    ranking: SkipJsonSchema[GroupRanking | None] = None
    """The goal asks which of several series is first."""
    bound: SkipJsonSchema[ForecastBound | None] = None
    """The goal asks in which periods the forecast lies above or below a number."""

    @property
    def name(self) -> str:
        """Name of the measured column of the series, in the words that its report uses.

        It ends with the name of the column, whose unit it has: kilograms of `total weight_kg`.
        """
        if self.measure == "value":
            return self.column or VALUE_NAME
        return f"{_NAMES[self.measure]} {self.column}" if self.column else "number of rows"

    @property
    def key_name(self) -> str | None:
        """Name of the column that tells series apart; several keys make one."""
        return KEY_SEPARATOR.join(self.keys) if self.keys else None

    @property
    def time_columns(self) -> list[str]:
        return [self.time] if self.axis is None else [name for name in self.axis.columns if name]

    @property
    def source_columns(self) -> list[str]:
        """The columns of the table that the series is made of."""
        column = [self.column] if self.column else []
        return [*self.time_columns, *self.period_columns, *self.keys, *column]

    @property
    def period_columns(self) -> list[str]:
        return self.axis.period_columns if self.axis else []

    @property
    def description(self) -> str:
        figures = {
            "count": "the number of rows",
            "distinct": f"the number of different `{self.column}`",
            "sum": f"the sum of `{self.column}`",
            "mean": f"the mean of `{self.column}`",
            "maximum": f"the maximum of `{self.column}`",
            "value": f"`{self.name}`",
        }
        period = self.every.replace("_", " ") if self.step == 1 else f"{self.step} {self.every}s"
        keys = f", for each {' and '.join(f'`{key}`' for key in self.keys)}" if self.keys else ""
        return f"{figures[self.measure]}{IN_EACH}{period}{keys}"


IN_EACH = " in each "
"""Words of a description of a series, by which it is known from a user's own words."""
_NAMES: Mapping[PeriodMeasure, str] = {
    "distinct": "number of different",
    "sum": "total",
    "mean": "mean",
    "maximum": "maximum",
}
VALUE_NAME = "value"
"""Name of the values of period columns."""
KEY_SEPARATOR = " / "


class Cut(BaseModel):
    """A threshold that turns a number into yes or no: above (or below) `value`.

    `is_inclusive`: the value itself is on the side of yes, as of "4 or higher".
    """

    above: bool
    value: float
    is_inclusive: bool = False

    @property
    def side(self) -> str:
        if self.is_inclusive:
            return "at least" if self.above else "at most"
        return "above" if self.above else "below"


def cut_name(target: str, cut: Cut) -> str:
    return f"{target}_{cut.side.replace(' ', '_')}_{cut.value:g}"


def select_with_cut(source: str, target: str, cut: Cut) -> str:
    """Return a SELECT over the source with the target replaced by yes or no, for its side of the value."""
    sign = (">" if cut.above else "<") + ("=" if cut.is_inclusive else "")
    column = quote_identifier(target)
    expression = f"CASE WHEN {column} {sign} {cut.value!r} THEN 'yes' ELSE 'no' END"
    return (
        f"SELECT * EXCLUDE ({column}), {expression} AS {quote_identifier(cut_name(target, cut))} "
        f"FROM ({source}) AS whole WHERE {column} IS NOT NULL"
    )


def select_all(table: str) -> str:
    return f"SELECT * FROM {quote_identifier(table)}"
