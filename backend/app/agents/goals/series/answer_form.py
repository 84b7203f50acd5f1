"""The part of a forecast that a goal asks for: each period, one number for all of them, which of several series
is first, or the periods on one side of a bound."""

import re
from dataclasses import dataclass

from app.agents.goals.goal import Goal
from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.forecast_horizon import AnswerForm, Horizon
from app.agents.goals.periods.phrases import read_frequency
from app.agents.goals.series.select_sql import ForecastBound, GroupRanking, PeriodMeasure
from app.agents.goals.tables.profiles import Column

_PERIOD = "minute|hour|day|week|month|quarter|year"
_COUNTED_PERIODS = re.compile(
    rf"\b(?:how many|number of|which|what|any)(?: of)?(?: the)?(?: (?:next|coming|following)(?: \w{{1,9}})?)?"
    rf" (?:{_PERIOD})s\b|\b(?:which|what|any) (?:single )?(?:{_PERIOD})\b",
    re.IGNORECASE,
)
"""Questions for periods: "how many days", "in which weeks", "any of the next 6 months"."""


@dataclass(frozen=True)
class MeasuredForecast:
    """A forecast whose measure and horizon are known.

    `is_added`: the values of its periods add up, as counts and amounts do. `has_keys`: the rows are several
    series already.
    """

    text: str
    horizon: Horizon
    measure: PeriodMeasure
    is_added: bool
    has_keys: bool


def asks_for_periods(text: str) -> bool:
    """Test if a goal asks for periods, and not for the rows of one: "how many days"."""
    return _COUNTED_PERIODS.search(text) is not None


def choose_answer(
    forecast: MeasuredForecast, ranking: GroupRanking | None, bound: ForecastBound | None, column: Column | None
) -> AnswerForm:
    """Choose what of the forecast is asked for.

    `bound`: it is compared with each period where the `column` has values on both sides of it.
    """
    text, horizon = forecast.text, forecast.horizon
    if ranking is not None:
        # One number tells the first of several series, whatever else is asked of their periods.
        return "sum" if forecast.is_added else "mean"
    if bound is not None and (asks_for_periods(text) or (column is not None and column.spans(bound.value))):
        return "each_period"
    is_each = bool(vocabulary.EACH_PERIOD.search(text) or read_frequency(text))
    if horizon.steps - horizon.first <= 1:
        return "each_period" if horizon.steps == 1 else "last"
    if vocabulary.MAXIMUM.search(text) and forecast.measure != "maximum":
        return "maximum"
    if vocabulary.MINIMUM.search(text):
        return "minimum"
    # "Revenue next month" is one number, whose days are shown beside it.
    is_total = vocabulary.TOTAL.search(text) is not None
    # "How much will each branch sell in total" says `each` of the branches.
    asks_sum = is_total if forecast.has_keys else (horizon.is_single or is_total) and not is_each
    if forecast.is_added and asks_sum:
        return "sum"
    return "last" if horizon.is_point else "each_period"


def find_bound(goal: Goal, horizon: Horizon) -> ForecastBound | None:
    """Find the number that the forecasts of several periods are compared with.

    Of one period a class is predicted, whose probability says more than a yes or no.
    """
    threshold = goal.threshold
    if threshold is None or horizon.is_point or horizon.steps - horizon.first <= 1:
        return None
    if threshold.above:
        return ForecastBound(sign=">=" if threshold.is_inclusive else ">", value=threshold.value)
    return ForecastBound(sign="<=" if threshold.is_inclusive else "<", value=threshold.value)
