"""The series that a goal asks for, beside a table whose time axis and layout are known."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from app.agents.goals import period_vocabulary as vocabulary
from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.columns import match_columns
from app.agents.goals.filters import find_conditions
from app.agents.goals.forecast_horizon import (
    AnswerForm,
    Horizon,
    SeriesEnd,
    find_horizon,
    horizon_unit,
    next_start,
    period_start,
)
from app.agents.goals.goal import Goal
from app.agents.goals.name_score import score_column
from app.agents.goals.period_phrases import is_level, is_quantity, mentions_value, read_period
from app.agents.goals.row_conditions import RowCondition
from app.agents.goals.select_sql import NumberText, PeriodAggregation, PeriodMeasure
from app.agents.goals.series_layout import SeriesLayout, usable_numbers
from app.agents.goals.stemming import stem, stems
from app.agents.goals.tables import Column, TableProfile
from app.agents.goals.target import MIN_CLEAR_SCORE, MIN_LEAD_RATIO
from app.agents.goals.time_axis import DAY_S, PERIOD_S, PERIODS, MeasuredAxis, Period
from app.agents.goals.tokenizer import words

USUAL_HORIZON = "usual"
"""Unit of a horizon that the goal does not say."""
UNKNOWN_END = datetime(2000, 12, 31)
"""End of a series whose dates the profile does not tell: a horizon that is counted does not depend on it."""
MAX_SERIES = 50
"""Groups of transactions that are forecast each: more make a report that nobody reads."""
MAX_NORMAL_GAPS = 3
"""Mean gaps between rows that may pass before the end of a covered period: of random times, 5 % are longer."""
MIN_ROWS_PER_PERIOD = 2.0
"""Mean rows of a period from which transactions are counted by it: with fewer most periods are empty."""
_FINER: dict[str, Period] = {
    "week": "day",
    "fortnight": "day",
    "month": "day",
    "quarter": "month",
    "year": "month",
    "decade": "year",
    "day": "hour",
}
_USUAL_STEPS: dict[Period, int] = {
    "minute": 60,
    "hour": 24,
    "day": 28,
    "business_day": 20,
    "week": 13,
    "month": 12,
    "quarter": 8,
    "year": 5,
}
"""Periods that are forecast if the goal says no horizon: about a season."""
GOAL_CONFIDENCE, DEFAULT_CONFIDENCE = 0.85, 0.7
"""Confidence in a forecast whose horizon the goal says, and in one whose horizon is the usual."""


@dataclass(frozen=True)
class PeriodForecast:
    """A series of periods to be made of the table's rows, and the number of periods to forecast.

    `conditions`: those of the rows that the goal is about, which may need `joined` tables.
    `gaps`: periods without a row; `repeated_rows`: rows of a period that has one already.
    `is_default_horizon`: the goal says none.
    """

    table: TableProfile
    aggregation: PeriodAggregation
    steps: int
    conditions: tuple[RowCondition, ...] = ()
    joined: tuple[str, ...] = ()
    gaps: int = 0
    repeated_rows: int = 0
    is_default_horizon: bool = False


@dataclass(frozen=True)
class SeriesRequest:
    """A goal beside a table whose time axis and layout are known."""

    goal: Goal
    table: TableProfile
    measured: MeasuredAxis
    layout: SeriesLayout
    times: frozenset[str]
    """Columns of any time axis, which are no measures."""
    others: tuple[TableProfile, ...] = ()

    @property
    def text(self) -> str:
        return self.goal.text

    def find_forecast(self) -> PeriodForecast | None:
        column, function = self._measure()
        if function is None:
            return None
        if self.layout.kind == "transactions" and column and not self._asks_for_a_sum():
            return None
        every, step, horizon = self._period_and_horizon()
        if every is None or horizon is None:
            return None
        conditions = self._conditions(column)
        keys = self._keys({condition.column for condition in conditions})
        function = self._function(column, function, keys, every, conditions)
        aggregation = PeriodAggregation(
            measure=function,
            column=column.name if column else None,
            time=self._time_name,
            every=every,
            step=step,
            keys=[key.name for key in keys],
            axis=None if self.measured.axis.is_native else self.measured.axis,
            number=self._number_text(column),
            answer=self._answer(horizon, function),
            skipped_periods=horizon.first,
        )
        if self._is_plain(aggregation, conditions):
            return None
        return PeriodForecast(
            self.table,
            aggregation,
            horizon.steps,
            tuple(conditions),
            self._joined(conditions),
            gaps=self.measured.gaps,
            repeated_rows=max(0, self.table.rows - self.measured.times) if self.layout.kind == "series" else 0,
            is_default_horizon=horizon.unit == USUAL_HORIZON,
        )

    @property
    def _time_name(self) -> str:
        axis = self.measured.axis
        if axis.period_columns or len(axis.parts) > 1:
            return "period" if self.table.column("period") is None else "time"
        return axis.columns[0]

    def _number_text(self, column: Column | None) -> NumberText | None:
        signs = column.number_signs if column else None
        if column is None or signs is None:
            return None
        return NumberText.model_validate({"decimal": signs[0], "group": signs[1]})

    @cached_property
    def _values(self) -> dict[str, str]:
        """Return the values of columns of groups that the goal names: "only for the coast", "cats per week"."""
        goal_stems, values = [stem(word) for word in words(self.text)], dict[str, str]()
        spare = {key.name for key in self.layout.spare_keys}
        for column in self.table.columns:
            if column.is_number or column.name in self.measured.axis.columns or column.name in spare:
                continue
            if column.hint not in ("category", "text", "boolean", "id") or isinstance(
                next(iter(column.top), None), bool
            ):
                continue
            texts = [str(value) for value in dict.fromkeys([*column.top, *column.examples])]
            mentioned = [value for value in texts if mentions_value(goal_stems, value)]
            if len(mentioned) == 1 and column.distinct > 1:
                values[column.name] = mentioned[0]
        return values

    def _measure(self) -> tuple[Column | None, PeriodMeasure | None]:
        """Return the column that is measured and how; no function if the goal does not determine it."""
        if self.measured.axis.period_columns:
            return None, "value"
        numbers = [c for c in usable_numbers(self.table, self.layout) if c.name not in self.times]
        mentioned = self._named_number(numbers)
        if self.layout.kind != "transactions":
            column = mentioned or (numbers[0] if len(numbers) == 1 else None)
            return (column, "value") if column else (None, None)
        return self._transaction_measure(numbers, mentioned)

    def _named_number(self, numbers: Sequence[Column]) -> Column | None:
        """Return the number that the goal names more clearly than others, if only by a part of its name."""
        scored = sorted(
            ((score_column(self.goal, column, self.table.name), column) for column in numbers),
            key=lambda entry: -entry[0],
        )
        rival = scored[1][0] if len(scored) > 1 else 0.0
        if scored and scored[0][0] >= MIN_CLEAR_SCORE and scored[0][0] > MIN_LEAD_RATIO * rival:
            return scored[0][1]
        mentioned = [column for column in numbers if self._goal_stems & _content_stems(column)]
        return mentioned[0] if len(mentioned) == 1 else None

    @cached_property
    def _goal_stems(self) -> set[str]:
        return {stem(vocabulary.CURRENCIES.get(word, word)) for word in words(self.text)}

    def _transaction_measure(
        self, numbers: Sequence[Column], mentioned: Column | None
    ) -> tuple[Column | None, PeriodMeasure | None]:
        names_number = any(self._goal_stems & _content_stems(column) for column in numbers)
        if self._names_rows() and not names_number and not vocabulary.ADDITIVE.search(self.text):
            return None, "count"
        whole_numbers = (column for column in numbers if column.type == "integer")
        quantity = next((c for c in whole_numbers if vocabulary.QUANTITIES.search(c.name)), None)
        if vocabulary.COUNT.search(self.text) and not (mentioned and is_quantity(mentioned)):
            return (quantity, "sum") if quantity and self._asks_for_pieces() else (None, "count")
        if mentioned:
            return mentioned, self._mean_or_sum(mentioned)
        if quantity and self._asks_for_pieces() and not vocabulary.MONEY.search(self.text):
            return quantity, "sum"
        if vocabulary.ADDITIVE.search(self.text) and not vocabulary.MEAN.search(self.text):
            money = [c for c in numbers if c is not quantity]
            return (money[0], "sum") if len(money) == 1 else (None, None)
        if vocabulary.MEAN.search(self.text) and len(numbers) == 1:
            return numbers[0], "mean"
        return (None, "count") if self._names_rows() or self._names_a_value() else (None, None)

    def _asks_for_pieces(self) -> bool:
        """Test if the goal counts what the rows hold, and not the rows themselves."""
        return not self._names_rows()

    def _names_rows(self) -> bool:
        """Test if the head of the request is the table's own noun: "bookings" of a table `bookings`."""
        nouns = set(stems(self.table.name))
        nouns |= {word for c in self.table.columns if c.hint == "id" for word in stems(c.name)} - {"id"}
        return bool(self._heads & nouns)

    def _names_a_value(self) -> bool:
        """Test if the head of the request is a value, such as `cats` of a column of species."""
        values = {word for value in self._values.values() for word in stems(value)}
        return bool(self._heads & values)

    @property
    def _heads(self) -> set[str]:
        return {stem(word.word) for word in goal_words(self.goal.target_text) if word.part is Part.HEAD}

    def _mean_or_sum(self, column: Column) -> PeriodMeasure:
        if vocabulary.MEAN.search(self.text):
            return "mean"
        return "mean" if is_level(column) and not vocabulary.ADDITIVE.search(self.text) else "sum"

    def _asks_for_a_sum(self) -> bool:
        """Test if a goal asks for all rows of a period, and not for the value of one row."""
        return bool(
            read_period(self.text)
            or any(
                pattern.search(self.text)
                for pattern in (vocabulary.COUNT, vocabulary.TOTAL, vocabulary.ADDITIVE, vocabulary.MEAN)
            )
        )

    def _period_and_horizon(self) -> tuple[Period | None, int, Horizon | None]:
        explicit, axis = read_period(self.text), self.measured
        if self.layout.kind == "transactions":
            every, step = explicit or self._usual_period(), 1
        elif explicit and axis.every and PERIOD_S[explicit] > 1.2 * PERIOD_S[axis.every] * axis.step:
            every, step = explicit, 1
        else:
            every, step = axis.every, axis.step
        if every is None:
            return None, 1, None
        if every == "day" and axis.every == "business_day" and self.layout.kind != "transactions":
            every = "business_day"
        end = SeriesEnd(self._last_period(every), every, step)
        horizon = find_horizon(self.text, end, knows_end=axis.high is not None)
        is_regular = self.layout.kind != "transactions" or explicit
        if horizon is None and is_regular and vocabulary.FORECAST.search(self.text):
            horizon = Horizon(max(1, _USUAL_STEPS[every] // step), unit=USUAL_HORIZON)
        return every, step, horizon

    def _usual_period(self) -> Period | None:
        """Return the period by which transactions are counted if the goal names none: part of the horizon."""
        unit = horizon_unit(self.text)
        if unit is None:
            return "month" if re.search(r"\b(?:year|20\d\d|quarter)\b", self.text, re.IGNORECASE) else None
        name, is_single = unit
        finer = _FINER.get(name)
        if finer and is_single and self._rows_per(finer) >= MIN_ROWS_PER_PERIOD:
            return finer if name != "day" else "day"
        return next((period for period in PERIODS if period == name), "day" if name == "fortnight" else None)

    def _rows_per(self, every: Period) -> float:
        spacing_s = self.measured.spacing_s
        per_time = self.table.rows / max(self.measured.times, 1)
        return per_time * max(1.0, PERIOD_S[every] / spacing_s) if spacing_s else per_time

    def _last_period(self, every: Period) -> datetime:
        """Return the beginning of the last period that rows cover."""
        high = self.measured.high or UNKNOWN_END
        begin = period_start(high, every) if self.layout.kind == "transactions" else high
        if self.layout.kind != "transactions":
            return begin if self.measured.every == every else period_start(begin, every)
        has_time = high != datetime(high.year, high.month, high.day)
        uncovered_s = (next_start(begin, every) - high).total_seconds() - (0 if has_time else DAY_S)
        spacing_s = self.measured.spacing_s or 0.0
        is_cut = uncovered_s > max(MAX_NORMAL_GAPS * spacing_s, DAY_S)
        return period_start(begin - timedelta(seconds=1), every) if is_cut else begin

    def _conditions(self, column: Column | None) -> list[RowCondition]:
        """Return the conditions on rows; those on times are horizons, but for a beginning ("since 2019")."""
        target = column.name if column else None
        conditions = [
            condition
            for condition in find_conditions(self.text, [self.table, *self.others], target, ())
            if condition.column not in self.times
            or (self.measured.axis.is_native and condition.operator in ("above", "at_least"))
        ]
        restricted = {condition.column for condition in conditions}
        return conditions + [
            RowCondition(column=name, values=[value])
            for name, value in self._values.items()
            if name not in restricted
        ]

    def _joined(self, conditions: Sequence[RowCondition]) -> tuple[str, ...]:
        needed = {condition.column for condition in conditions} - {column.name for column in self.table.columns}
        return tuple(other.name for other in self.others if needed & {column.name for column in other.columns})

    def _keys(self, values: Collection[str]) -> tuple[Column, ...]:
        """Return the columns that tell the series apart that the goal asks for."""
        phrases = [phrase for phrase in vocabulary.GROUPS.findall(self.text) if phrase]
        mentioned = [
            c
            for c in self.table.columns
            if any(c.name in match_columns(p, self.table.columns) for p in phrases)
        ]
        if self.layout.kind == "panel":
            free = tuple(key for key in self.layout.keys if key.name not in values)
            named_keys = [c for c in mentioned if c in (*self.layout.keys, *self.layout.spare_keys)]
            if vocabulary.TOTAL.search(self.text):
                return tuple(c for c in named_keys if c.name not in values)
            return tuple(named_keys) if len(named_keys) == len(free) == 1 else free
        classes = [c for c in mentioned if c.hint == "category" and c.name not in values]
        groups = [column for column in classes if 2 <= column.distinct <= MAX_SERIES]
        return tuple(groups[:1]) if self.layout.kind == "transactions" else ()

    def _function(
        self,
        column: Column | None,
        function: PeriodMeasure,
        keys: Sequence[Column],
        every: Period,
        conditions: Sequence[RowCondition],
    ) -> PeriodMeasure:
        """Return how the rows of a period become one value."""
        if function != "value":
            return function
        single = {condition.column for condition in conditions if len(condition.values) == 1}
        merged = [key for key in self.layout.keys if key not in keys and key.name not in single]
        is_coarser = every != self.measured.every and self.measured.every != "business_day"
        if self.layout.kind == "panel" and merged and not self._is_spare(keys):
            return self._mean_or_sum(column) if column else "sum"
        if is_coarser:
            return self._mean_or_sum(column) if column else "mean"
        return "value"

    def _is_spare(self, keys: Sequence[Column]) -> bool:
        """Test if the keys are as good as those of the layout: a code instead of a name."""
        return len(keys) == len(self.layout.keys) and bool(keys)

    def _answer(self, horizon: Horizon, function: PeriodMeasure) -> AnswerForm:
        is_each = bool(vocabulary.EACH_PERIOD.search(self.text) or read_period(self.text))
        if horizon.steps - horizon.first <= 1:
            return "each_period" if horizon.steps == 1 else "last"
        if vocabulary.MAXIMUM.search(self.text):
            return "maximum"
        if vocabulary.MINIMUM.search(self.text):
            return "minimum"
        asks_sum = bool(vocabulary.TOTAL.search(self.text)) or (
            horizon.is_single and vocabulary.HOW_MANY.search(self.text)
        )
        if function in ("count", "sum") and asks_sum and not is_each and not self.layout.keys:
            return "sum"
        return "last" if horizon.is_point else "each_period"

    def _is_plain(self, aggregation: PeriodAggregation, conditions: Sequence[RowCondition]) -> bool:
        """Test if the rows are the series as they stand, which a forecast of rows ahead serves as well."""
        return (
            aggregation.axis is None
            and aggregation.measure == "value"
            and self.layout.kind == "series"
            and not conditions
            and not self.measured.gaps
            and self.table.rows == self.measured.times
            and self.goal.lookahead is not None
        )


def _content_stems(column: Column) -> set[str]:
    """Return the stems of a column's name that tell it apart."""
    return set(stems(column.name)) - vocabulary.EMPTY_STEMS
