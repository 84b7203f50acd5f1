"""Format of the corpus of series: tables that hold series, and goals that ask for their future."""

import re
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, model_validator
from tests.corpora.files import FileFormat
from tests.corpora.tables import ID_PATTERN, Half, InventedSource, PackageSource, StrictModel

SERIES_DIRECTORY = Path(__file__).parent / "series"
TRAINING_DIRECTORY = Path(__file__).parent / "training" / "series"
"""Further invented tables in two halves, by which rules are measured while they are written."""

Frequency = Literal["minute", "hour", "day", "business_day", "week", "month", "quarter", "year", "irregular"]
Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
MAX_LISTED_PERIODS = 30
"""Gaps or duplicates that are listed for one series."""

PERIOD_PATTERNS: Final[dict[Frequency, str]] = {
    "minute": r"\d{4}-\d\d-\d\dT\d\d:\d\d",
    "hour": r"\d{4}-\d\d-\d\dT\d\d:00",
    "day": r"\d{4}-\d\d-\d\d",
    "business_day": r"\d{4}-\d\d-\d\d",
    "week": r"\d{4}-\d\d-\d\d",
    "month": r"\d{4}-\d\d",
    "quarter": r"\d{4}-Q[1-4]",
    "year": r"\d{4}",
    "irregular": r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?",
}
"""Canonical texts of periods; a week is named by its date in the file, else by its Monday."""


class Horizon(StrictModel):
    """Length of a forecast in periods of the series."""

    steps: int = Field(ge=1)
    unit: Unit


class PeriodValue(StrictModel):
    """Value of a series in one period, after aggregation where there is one."""

    period: str
    key: dict[str, str] = Field(default={})
    value: int | float | None


class SeriesJudgement(StrictModel):
    """Series that a goal asks for.

    - `time_columns`: the column of times, or several that make a time together (year and month). Where periods
      are the names of columns (`layout` "wide") `period_columns` holds these in their order, and `time_columns`
      the rest of the time, if there is one (rows of years with a column for each month).
    - `frequency`: that of the rows as they are; transactions are `irregular`.
    - `key`: columns whose values tell series apart, empty for one series; `series_count` of them.
    - `measure`: column to forecast, null where rows are counted. `aggregation`: `none`, `count`,
      `sum:<column>` or `mean:<column>`; `every`: unit of the periods of the series that is forecast, `step` of
      them (half an hour is 30 minutes).
    - `filter`: values to which the goal restricts rows.
    - `answer`: `each_period` of the horizon, or one number over it (`sum`, `mean`, `last`, `maximum`).
      `horizon` is null where the goal does not say how far.
    - `first`, `last`: first and last period; `gaps`: periods between them without a row, in any series;
      `duplicates`: periods with more than one row of a series, by fault and not as transactions.
    - `incomplete`: periods at either end that transactions do not cover in full.
    - `checks`: values of a few periods.
    """

    layout: Literal["long", "wide"]
    time_columns: list[str]
    period_columns: list[str] = Field(default=[])
    date_order: Literal["dmy", "mdy", "ymd"] | None = None
    frequency: Frequency
    key: list[str]
    series_count: int = Field(ge=1)
    measure: str | None
    aggregation: str = Field(pattern=r"^(none|count|(sum|mean):.+)$")
    every: Unit | Literal["business_day"]
    step: int = Field(default=1, ge=1)
    filter: dict[str, str] = Field(default={})
    answer: Literal["each_period", "sum", "mean", "last", "maximum"]
    horizon: Horizon | None
    first: str
    last: str
    gaps: list[str] = Field(default=[], max_length=MAX_LISTED_PERIODS)
    duplicates: list[str] = Field(default=[], max_length=MAX_LISTED_PERIODS)
    incomplete: list[str] = Field(default=[], max_length=2)
    checks: list[PeriodValue] = Field(min_length=2)

    @model_validator(mode="after")
    def check_layout(self) -> Self:
        if (self.layout == "wide") != bool(self.period_columns):
            raise ValueError("period columns exactly where the table is wide")
        if self.layout == "long" and not self.time_columns:
            raise ValueError("a long table has a column of times")
        if (self.aggregation == "count") != (self.measure is None) and self.layout == "long":
            raise ValueError("a count, and nothing else, has no measure")
        if ":" in self.aggregation and self.aggregation.split(":", 1)[1] != self.measure:
            raise ValueError("the aggregated column is the measure")
        return self

    @model_validator(mode="after")
    def check_periods(self) -> Self:
        pattern = PERIOD_PATTERNS[self.every]
        periods = [self.first, self.last, *self.gaps, *self.duplicates, *self.incomplete]
        for period in periods + [check.period for check in self.checks]:
            if re.fullmatch(pattern, period) is None:
                raise ValueError(f"{period!r} is no period of a {self.every}")
            if not self.first <= period <= self.last:
                raise ValueError(f"{period} lies outside {self.first} to {self.last}")
        return self


class SeriesGoal(StrictModel):
    """Goal in the user's words and its judgement; `accepted` are other judgements that are as good."""

    goal: str = Field(min_length=1)
    judgement: SeriesJudgement
    accepted: list[SeriesJudgement] = Field(default=[])
    may_ask: bool
    ask_about: str | None = None
    note: str = Field(min_length=1)

    @model_validator(mode="after")
    def check_question(self) -> Self:
        if self.ask_about is not None and not self.may_ask:
            raise ValueError(f"{self.goal!r}: ask_about without may_ask")
        return self


class SeriesFile(StrictModel):
    """One file of the corpus: `<id>.csv` lies beside its goals."""

    id: str = Field(pattern=ID_PATTERN)
    source: PackageSource | InventedSource
    title: str = Field(min_length=1)
    shape: Literal["series", "transactions"]
    form: FileFormat
    columns: list[str] = Field(min_length=1)
    goals: list[SeriesGoal] = Field(min_length=1)


def load_series(half: Half, directory: Path = SERIES_DIRECTORY) -> list[SeriesFile]:
    """Files of one half in the order of their names; raise ValidationError on a malformed file."""
    paths = sorted((directory / half).glob("*.json"))
    return [SeriesFile.model_validate_json(path.read_text(encoding="utf-8"), strict=True) for path in paths]
