"""The time of a table's rows: one column or several that make a time together, or columns named by periods."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field

from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT

Period = Literal["minute", "hour", "day", "business_day", "week", "month", "quarter", "year"]
PERIODS: tuple[Period, ...] = get_args(Period)
AxisUnit = Literal[
    "moment",
    "text",
    "period",
    "decimal_year",
    "day_number",
    "year",
    "year_name",
    "quarter",
    "quarter_name",
    "month",
    "month_name",
    "week",
    "day",
    "hour",
    "hour_ending",
]
DAY_S = 86_400.0
PERIOD_S: dict[Period, float] = {
    "minute": 60.0,
    "hour": 3_600.0,
    "day": DAY_S,
    "business_day": 7 / 5 * DAY_S,
    "week": 7 * DAY_S,
    "month": SECONDS_BY_UNIT["month"],
    "quarter": SECONDS_BY_UNIT["quarter"],
    "year": SECONDS_BY_UNIT["year"],
}


class PeriodFrequency(NamedTuple):
    """One period every `step` units of `every`."""

    every: Period
    step: int = 1

    @property
    def period_s(self) -> float:
        return PERIOD_S[self.every] * self.step


MONTHS_IN: dict[str, int] = {"month": 1, "quarter": 3, "year": 12}
MIN_COVERAGE, MAX_COVERAGE = 0.88, 1.02
"""Share of the periods between first and last that a regular series has; more are not of this frequency."""
_STEPS: dict[Period, tuple[int, ...]] = {
    "minute": (1, 2, 5, 10, 15, 20, 30),
    "hour": (1, 2, 3, 4, 6, 8, 12),
    "month": (1, 2),
    "quarter": (1, 2),
    "year": (1, 2, 4, 5, 10),
}
"""Steps of regular series: half years, elections and censuses are some."""


class AxisPart(BaseModel):
    """A column of a time axis. `spelling`: how its texts are written."""

    model_config = ConfigDict(extra="forbid")

    column: str
    unit: AxisUnit
    spelling: str | None = None


class TimeAxis(BaseModel):
    """The columns that tell the time of a value.

    `parts` make it together; `period_columns` are named by periods or months, a value in each.
    """

    model_config = ConfigDict(extra="forbid")

    parts: list[AxisPart] = Field(default_factory=list)
    period_columns: list[str] = Field(default_factory=list, max_length=2000)
    day_first: bool = False

    @property
    def columns(self) -> list[str]:
        return [part.column for part in self.parts]

    @property
    def is_native(self) -> bool:
        """True for one column of moments."""
        return [part.unit for part in self.parts] == ["moment"] and not self.period_columns


@dataclass(frozen=True)
class MeasuredAxis:
    """A time axis with the frequency of its values: one every `step` units of `every`, None if irregular.

    `times`: number of different times; `low` and `high`: the first and the last one, None if unknown.
    """

    axis: TimeAxis
    every: Period | None
    step: int
    times: int
    low: datetime | None
    high: datetime | None

    @property
    def spacing_s(self) -> float | None:
        if self.low is None or self.high is None or self.times < 2:
            return None
        return (self.high - self.low).total_seconds() / (self.times - 1)

    @property
    def gaps(self) -> int:
        """Number of periods between the first and the last that no row has; 0 if it is unknown."""
        if self.every is None or self.every == "business_day" or self.low is None or self.high is None:
            return 0
        return max(0, count_periods(self.low, self.high, self.every, self.step) - self.times)


def measure_frequency(low: datetime | None, high: datetime | None, times: int) -> tuple[Period | None, int]:
    """Return unit and step of evenly spaced times from their number and ends; None if they are uneven."""
    # Two times are evenly spaced at any frequency.
    if low is None or high is None or times < 3 or high <= low:
        return None, 1
    for unit in PERIODS:
        for step in _STEPS.get(unit, (1,)):
            if _is_aligned(low, high, unit, step) and (
                MIN_COVERAGE <= times / count_periods(low, high, unit, step) <= MAX_COVERAGE
            ):
                return unit, step
    return None, 1


def _is_aligned(low: datetime, high: datetime, unit: Period, step: int) -> bool:
    if unit in MONTHS_IN:
        months = (high.year - low.year) * 12 + high.month - low.month
        # Series of months' ends have days from 28 to 31.
        is_same_day = low.day == high.day or (_ends_month(low) and _ends_month(high))
        return is_same_day and months % MONTHS_IN[unit] == 0
    seconds = (high - low).total_seconds()
    if unit == "business_day":
        return low.weekday() < 5 and high.weekday() < 5 and seconds % DAY_S == 0
    return seconds % (PERIOD_S[unit] * step) == 0


def _ends_month(moment: datetime) -> bool:
    return (moment + timedelta(days=1)).month != moment.month


def count_periods(low: datetime, high: datetime, unit: Period, step: int) -> int:
    """Count the periods from the one of `low` to the one of `high`, both included."""
    if unit in MONTHS_IN:
        months = (high.year - low.year) * 12 + high.month - low.month
        return months // MONTHS_IN[unit] // step + 1
    if unit == "business_day":
        weeks, days = divmod((high - low).days, 7)
        return weeks * 5 + sum((low + timedelta(days=day)).weekday() < 5 for day in range(days)) + 1
    return int((high - low).total_seconds() // (PERIOD_S[unit] * step)) + 1
