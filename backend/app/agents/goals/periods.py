"""Forecasts by period: transactions that are counted or summed by day, week or month first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.agents.goals.clauses import Part, goal_words, head_stems
from app.agents.goals.filters import find_conditions
from app.agents.goals.goal import Goal
from app.agents.goals.row_conditions import RowCondition
from app.agents.goals.select_sql import PERIODS, Period, PeriodAggregation
from app.agents.goals.tables import Column, TableProfile, row_spacing_s
from app.agents.goals.target import MIN_CLEAR_SCORE, score_column
from app.agents.goals.vocabulary import SECONDS_BY_UNIT

Measure = Literal["count", "sum", "mean"]
_EVERY = re.compile(
    r"\b(?:per|each|every|by|a)[ -](?P<unit>day|week|month|quarter|year)\b"
    r"|\b(?P<adverb>daily|weekly|monthly|quarterly|yearly|annual)\b",
    re.IGNORECASE,
)
_PERIODS_BY_ADVERB: dict[str, Period] = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annual": "year",
}
_AHEAD_UNIT = re.compile(
    r"\b(?:next|coming|following)[ -](?:[\w]{1,10}[ -])?(?P<unit>day|week|month|quarter|year)s?\b"
    r"|\b(?P<unit2>day|week|month|quarter|year)s? (?:ahead|out|from now)\b|\b(?P<tomorrow>tomorrow)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    rf"{_AHEAD_UNIT.pattern}|\b(?:forecast|expect|will|going to|coming|upcoming|ahead|next|predict)\w{{0,4}}\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bhow many\b|\bnumber of\b|\bcounts? of\b|\bvolumes?\b", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|overall|sum|in all)\b", re.IGNORECASE)
_ADDITIVE = re.compile(
    r"\b(?:total|overall|sum|revenue|takings|turnover|sales|income|spend(?:ing)?|proceeds|earnings|sell|earn)\b",
    re.IGNORECASE,
)
"""Words for what adds up over a period, whatever the column is called: the takings are the sum of prices."""
_MEAN = re.compile(r"\b(?:average|mean|typical)\b", re.IGNORECASE)
_LEVELS = re.compile(
    r"temp|price|rate|percent|pct|share|score|rating|index|level|age|speed|pressure|humidity", re.IGNORECASE
)
"""Names of columns whose values are levels: they are averaged over a period, not added."""
MIN_ROWS_PER_PERIOD = 2.0
"""Mean rows of a period from which they are transactions, and not the series itself."""


@dataclass(frozen=True)
class PeriodForecast:
    """A series of periods to be made of the table's rows, and the number of periods to forecast."""

    table: TableProfile
    aggregation: PeriodAggregation
    steps: int
    conditions: tuple[RowCondition, ...] = ()
    """Conditions on the rows that are counted or summed."""
    joined: tuple[str, ...] = ()
    """Other tables that the conditions need."""


def find_period_forecast(
    goal: Goal, table: TableProfile, others: Sequence[TableProfile] = ()
) -> PeriodForecast | None:
    """Return the forecast by period that a goal asks for; None if the rows are the series already.

    `others`: tables that may be joined if the goal restricts the rows by one of their columns.
    """
    every, is_explicit = _read_period(goal.text)
    is_count = bool(_COUNT.search(goal.text))
    looks_ahead = bool(goal.lookahead or _AHEAD.search(goal.text))
    groups = [phrase for phrase in goal.group_phrases if phrase.casefold().rstrip("s") not in PERIODS]
    if every is None or not table.dates or not looks_ahead or groups or goal.outlook:
        return None
    time = table.dates[0]
    if _rows_per_period(time, table.rows, every) < MIN_ROWS_PER_PERIOD:
        return None
    column = _measured_column(goal, table)
    if column is None and not (is_count or _names_rows(goal, table)):
        return None
    if not (is_count or is_explicit or _TOTAL.search(goal.text) or column is None):
        return None
    measure: Measure = "count"
    if column is not None and not (is_count and not _is_quantity(column)):
        is_level = _LEVELS.search(column.name) and not _ADDITIVE.search(goal.text)
        measure = "mean" if _MEAN.search(goal.text) or is_level else "sum"
    name = None if measure == "count" or column is None else column.name
    aggregation = PeriodAggregation(measure=measure, column=name, time=time.name, every=every)
    conditions = find_conditions(goal.text, [table, *others], name, head_stems(goal.target_text))
    restricted = {condition.column for condition in conditions} - {column.name for column in table.columns}
    joined = tuple(other.name for other in others if restricted & {column.name for column in other.columns})
    return PeriodForecast(table, aggregation, _steps(goal, every), tuple(conditions), joined)


def _read_period(text: str) -> tuple[Period | None, bool]:
    """Return the period of a text, and whether it is named as one (`per week`) or by the horizon alone."""
    if rhythm := _EVERY.search(text):
        unit = (rhythm["unit"] or "").casefold()
        return _as_period(unit) or _PERIODS_BY_ADVERB[rhythm["adverb"].casefold()], True
    if ahead := _AHEAD_UNIT.search(text):
        return ("day" if ahead["tomorrow"] else _as_period((ahead["unit"] or ahead["unit2"]).casefold())), False
    return None, False


def _as_period(unit: str) -> Period | None:
    return next((period for period in PERIODS if period == unit), None)


def _rows_per_period(time: Column, rows: int, every: Period) -> float:
    """Return the mean rows of a period: rows per distinct time, times the distinct times of a period."""
    spacing_s = row_spacing_s(time)
    per_time = rows / max(time.distinct, 1)
    return per_time * max(1.0, SECONDS_BY_UNIT[every] / spacing_s) if spacing_s else per_time


def _measured_column(goal: Goal, table: TableProfile) -> Column | None:
    """Return the number that the goal names, if it names one clearly."""
    numbers = [column for column in table.columns if column.is_number and column.hint != "id"]
    if not numbers:
        return None
    best = max(numbers, key=lambda column: score_column(goal, column, table.name))
    return best if score_column(goal, best, table.name) >= MIN_CLEAR_SCORE else None


def _is_quantity(column: Column) -> bool:
    """Test if a column counts things itself, so that "how many" asks for its sum."""
    return column.type == "integer" and not _LEVELS.search(column.name)


def _names_rows(goal: Goal, table: TableProfile) -> bool:
    """Test if the head of the request is the table's own noun: "bookings" of a table `bookings`."""
    heads = {word.word.rstrip("s") for word in goal_words(goal.target_text) if word.part is Part.HEAD}
    return any(part.rstrip("s") in heads for part in table.name.casefold().split("_"))


def _steps(goal: Goal, every: Period) -> int:
    if goal.lookahead and goal.lookahead.rows:
        return goal.lookahead.rows
    if goal.lookahead and goal.lookahead.seconds:
        return max(1, round(goal.lookahead.seconds / SECONDS_BY_UNIT[every]))
    return 1
