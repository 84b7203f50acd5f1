"""The series that a goal asks for, beside a table whose time axis and layout are known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from app.agents.goals.columns.ranking import likeliest_column
from app.agents.goals.columns.target import find_target
from app.agents.goals.conditions.row_conditions import BOUNDS, RowCondition
from app.agents.goals.goal import Goal
from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.forecast_horizon import (
    Horizon,
    SeriesEnd,
    find_dated,
    find_horizon,
    horizon_unit,
    names_future,
    next_start,
    period_start,
)
from app.agents.goals.periods.phrases import is_level, read_frequency
from app.agents.goals.periods.time_axis import DAY_S, PERIOD_S, PERIODS, MeasuredAxis, Period, PeriodFrequency
from app.agents.goals.periods.usual_periods import (
    COVERED_PERIODS,
    MAX_UNIT_DAYS,
    MIN_COVERED,
    PARTS_OF_UNITS,
    USUAL_STEPS,
)
from app.agents.goals.series.answer_form import MeasuredForecast, choose_answer, find_bound
from app.agents.goals.series.keys import choose_keys, find_ranked_keys, find_ranking
from app.agents.goals.series.layout import MAX_REPEATED_SHARE, SeriesLayout, usable_numbers
from app.agents.goals.series.measures import MeasureRequest, SeriesMeasure
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.restrictions import FindRows, SeriesRestrictions
from app.agents.goals.series.select_sql import NumberText, PeriodAggregation, PeriodMeasure
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stems

USUAL_HORIZON = "usual"
"""Unit of a horizon that the goal does not say."""
UNKNOWN_END = datetime(2000, 12, 31)
"""End of a series whose dates the profile does not tell: a horizon that is counted does not depend on it."""
MAX_NORMAL_GAPS = 3
"""Mean gaps between rows that may pass before the end of a covered period: of random times, 5 % are longer."""
MIN_ROWS_PER_PERIOD = 2.0
"""Mean rows of a period from which transactions are counted by it: with fewer most periods are empty."""
MIN_COARSER = 1.2
"""Ratio of a period to that of the rows from which it is another one: months differ in length."""
GOAL_CONFIDENCE, DEFAULT_CONFIDENCE = 0.85, 0.7
"""Confidence in a forecast whose horizon the goal says, and in one whose horizon is the usual."""


_YES_OR_NO = re.compile(r"^\W{0,3}(?:will|is|are|does|do)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SeriesRequest:
    """A goal beside a table whose time axis and layout are known."""

    goal: Goal
    table: TableProfile
    measured: MeasuredAxis
    layout: SeriesLayout
    times: frozenset[str]
    """Columns of any time axis, which are no measures."""
    find_rows: FindRows
    others: tuple[TableProfile, ...] = ()
    is_sure: bool = False  # the goal is known to ask for a forecast, with the usual measure and horizon
    measure: SeriesMeasure | None = None  # the measure, whatever the goal's words say
    assumed: tuple[str, ...] = ()  # columns of whose future the goal assumes something
    compares_forecasts: bool = False  # a number of the goal is one that the forecasts are compared with

    @property
    def text(self) -> str:
        return self.goal.text

    @property
    def looks_ahead(self) -> bool:
        """Test if the goal asks for times after the last row."""
        if vocabulary.AHEAD.search(self.text):
            return True
        end = SeriesEnd(self._last_period("day"), "day") if self.measured.high else None
        return names_future(self.text, end)

    def asks_for_events(self, keys: Sequence[Column]) -> bool:
        """Test if a goal counts rows, or adds up an amount without a word for the keys of a panel."""
        strongest = self._measures.choose()
        if strongest is None:
            return False
        if strongest.column is None:
            return True
        names_key = any(set(stems(key.name)) & self._measures.goal_stems for key in keys)
        return not names_key and self._measures.function(strongest.column) == "sum"

    def measures(self) -> list[SeriesMeasure]:
        """Return everything that may be measured, the likeliest first."""
        return [] if self.measured.axis.period_columns else self._measures.rank()

    def find_forecast(self) -> PeriodForecast | None:
        column, function = self._measure()
        if function is None or not (self.is_sure or self.looks_ahead):
            return None
        if (
            self.layout.kind == "transactions"
            and column
            and not (self.is_sure or self.measure or self._asks_for_periods(column))
        ):
            return None
        frequency, horizon = self._frequency_and_horizon()
        if frequency is None or horizon is None:
            return None
        conditions = self._restrictions.find_conditions(column)
        if self.compares_forecasts:
            # The number that the forecasts are compared with selects no rows.
            conditions = [c for c in conditions if c.operator not in BOUNDS or c.column in self.times]
        keys = choose_keys(self.text, self.table, self.layout, {condition.column for condition in conditions})
        function = self._function(column, function, keys, frequency, conditions)
        ranking = find_ranking(self.text, self.table) if keys else None
        # Values that add up have a sum like counts: "the total revenue of next year" of a row each month.
        is_added = function in ("count", "sum") or (
            function == "value" and column is not None and self._measures.function(column) == "sum"
        )
        measured = MeasuredForecast(self.text, horizon, function, is_added, has_keys=bool(self.layout.keys))
        bound = find_bound(self.goal, horizon) if self.compares_forecasts else None
        if self.compares_forecasts and bound is None:
            return None
        aggregation = PeriodAggregation(
            measure=function,
            column=column.name if column else None,
            time=self._time_name,
            every=frequency.every,
            step=frequency.step,
            keys=[key.name for key in keys],
            axis=None if self.measured.axis.is_native else self.measured.axis,
            number=self._number_text(column),
            answer=choose_answer(measured, ranking, bound, column),
            skipped_periods=horizon.first,
            ranking=ranking,
            bound=bound,
        )
        if not (self.measure or self.assumed) and self._is_plain(aggregation, conditions):
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
            assumed=self.assumed,
        )

    @property
    def _ranks_groups(self) -> bool:
        return bool(find_ranked_keys(self.text, self.table))

    @property
    def _are_readings(self) -> bool:
        """Test for regular times with a row each, which several things have in turn."""
        return self.measured.every is not None and self.table.rows <= MAX_REPEATED_SHARE * self.measured.times

    @property
    def _time_name(self) -> str:
        axis = self.measured.axis
        if axis.period_columns or len(axis.parts) > 1:
            return "period" if self.table.column("period") is None else "time"
        return axis.columns[0]

    def _number_text(self, column: Column | None) -> NumberText | None:
        """Return how numbers that are stored as text are written; None for numbers and counts."""
        periods = {*self.measured.axis.period_columns}
        columns = [column] if column else [c for c in self.table.columns if c.name in periods]
        texts = [other for other in columns if other.is_stored_as_text or other.number_signs]
        if not texts:
            return None
        signs = next((other.number_signs for other in texts if other.number_signs), (".", ""))
        return NumberText.model_validate({"decimal": signs[0], "group": signs[1]})

    @cached_property
    def _restrictions(self) -> SeriesRestrictions:
        keys = {key.name for key in self.layout.spare_keys}
        return SeriesRestrictions(
            self.goal, self.table, self.others, self.measured.axis, self.times, keys, self.find_rows
        )

    @cached_property
    def _measures(self) -> MeasureRequest:
        numbers = [c for c in usable_numbers(self.table, self.layout) if c.name not in self.times]
        values, counts_rows = self._restrictions.values, self.layout.kind == "transactions"
        return MeasureRequest(self.goal, self.table, numbers, values, counts_rows, self._events)

    @property
    def _events(self) -> frozenset[str]:
        """Stems of what happened at the times of the series: "discharges" of rows by `discharged_at`."""
        names = self.measured.axis.columns if self.layout.kind == "transactions" else ()
        return frozenset(part for name in names for part in stems(name)) - vocabulary.TIME_STEMS

    def _measure(self) -> tuple[Column | None, PeriodMeasure | None]:
        """Return the column that is measured and how; no function if the goal does not determine it."""
        if self.measured.axis.period_columns:
            return None, "value"
        numbers, strongest = self._measures.numbers, self.measure or self._measures.choose()
        if self.layout.kind != "transactions":
            if strongest:
                return strongest.column, "value"
            likely = numbers[0] if len(numbers) == 1 else self._target
            return (likely, "value") if likely in numbers else (None, None)
        if strongest is None and not (self.is_sure or self._ranks_groups):
            return None, None
        column = strongest.column if strongest else likeliest_column(self.goal, self.table, numbers)
        if column and column.distinct == 2 and _YES_OR_NO.search(self.text):
            return None, None  # "will the boat be cancelled" asks about one row
        if not (strongest or column):
            return None, None
        return (column, self._measures.function(column)) if column else (None, "count")

    def _asks_for_periods(self, column: Column) -> bool:
        """Test if a goal asks for all rows of a period, and not for the value of one row."""
        others = [c for c in self.table.columns if c.name not in self.measured.axis.columns]
        has_events = not all(other.is_number for other in others)
        has_other_times = bool(self.times - set(self.measured.axis.columns))
        return bool(
            read_frequency(self.text)
            or self._are_readings
            or self._ranks_groups
            or (horizon_unit(self.text) and not has_other_times and not (has_events and is_level(column)))
            or any(
                pattern.search(self.text)
                for pattern in (vocabulary.COUNT, vocabulary.TOTAL, vocabulary.ADDITIVE, vocabulary.MEAN)
            )
        )

    def _frequency_and_horizon(self) -> tuple[PeriodFrequency | None, Horizon | None]:
        explicit = read_frequency(self.text)
        frequency = self._frequency(explicit)
        if frequency is None:
            return None, None
        every, step = frequency
        end = SeriesEnd(self._last_period(every, step), every, step)
        horizon = find_horizon(self.text, end, knows_end=self.measured.high is not None)
        # Transactions have no rhythm of their own that a usual horizon could be counted in; a "forecast" has.
        is_regular = self.layout.kind != "transactions" or explicit or vocabulary.FORECAST.search(self.text)
        if horizon is None and is_regular and (self.is_sure or vocabulary.FORECAST.search(self.text)):
            horizon = Horizon(max(1, USUAL_STEPS[every] // step), unit=USUAL_HORIZON)
        return frequency, horizon

    def _frequency(self, explicit: PeriodFrequency | None) -> PeriodFrequency | None:
        """Return the frequency of the forecast: the one that the goal names, or else that of the rows."""
        axis = self.measured
        if self.layout.kind == "transactions":
            usual = self._usual_period()
            return explicit or (PeriodFrequency(usual) if usual else None)
        if axis.every is None:
            return None
        own = PeriodFrequency(axis.every, axis.step)
        # "The next 10 days" of prices are ten rows: a business day is longer than a day, in the mean.
        return explicit if explicit and explicit.period_s > MIN_COARSER * own.period_s else own

    def _usual_period(self) -> Period | None:
        """Return the period by which transactions are counted if the goal names none: part of the horizon.

        It is the finest one that has enough rows.
        """
        unit = horizon_unit(self.text) or self._unit_of_dates()
        if unit is None:
            if re.search(r"\b(?:year|20\d\d|quarter)\b", self.text, re.IGNORECASE):
                return "month"
            return self._covered_period() if vocabulary.FORECAST.search(self.text) else None
        name, is_single = unit
        # Who comes on two days of a month is one of its customers: different ones are no sum of days.
        if name in PERIODS and next(self._measures.different_things(), None):
            return name
        periods = PARTS_OF_UNITS.get(name, ())
        if not is_single and name in PERIODS:
            periods = periods[periods.index(name) :]
        filled = (period for period in periods if self._rows_per(period) >= MIN_ROWS_PER_PERIOD)
        return next(filled, periods[-1] if periods else None)

    def _covered_period(self) -> Period | None:
        """Return the longest period of which the rows cover enough for a forecast that names none."""
        low, high = self.measured.low, self.measured.high
        span_s = (high - low).total_seconds() if low and high else 0.0
        covered = (period for period in COVERED_PERIODS if span_s >= MIN_COVERED * PERIOD_S[period])
        return next((period for period in covered if self._rows_per(period) >= MIN_ROWS_PER_PERIOD), None)

    def _unit_of_dates(self) -> tuple[str, bool] | None:
        """Return the unit nearest to the dates that the goal asks for: a month, for "in May"."""
        if self.measured.high is None:
            return None
        horizon = find_dated(self.text, SeriesEnd(self._last_period("day"), "day"))
        if horizon is None:
            return None
        days = horizon.steps - horizon.first
        return next(((unit, True) for unit, longest in MAX_UNIT_DAYS if days <= longest), ("year", True))

    def _rows_per(self, every: Period) -> float:
        spacing_s = self.measured.spacing_s
        per_time = self.table.rows / max(self.measured.times, 1)
        return per_time * max(1.0, PERIOD_S[every] / spacing_s) if spacing_s else per_time

    def _last_period(self, every: Period, step: int = 1) -> datetime:
        """Return the beginning of the last period that rows cover."""
        high = self.measured.high or UNKNOWN_END
        begin = period_start(high, every, step) if self.layout.kind == "transactions" else high
        if self.layout.kind != "transactions":
            is_own = (self.measured.every, self.measured.step) == (every, step)
            return begin if is_own else period_start(begin, every, step)
        has_time = high != datetime(high.year, high.month, high.day)
        uncovered_s = (next_start(begin, every, step) - high).total_seconds() - (0 if has_time else DAY_S)
        spacing_s = self.measured.spacing_s or 0.0
        is_cut = uncovered_s > max(MAX_NORMAL_GAPS * spacing_s, DAY_S)
        return period_start(begin - timedelta(seconds=1), every, step) if is_cut else begin

    def _joined(self, conditions: Sequence[RowCondition]) -> tuple[str, ...]:
        needed = {condition.column for condition in conditions} - {column.name for column in self.table.columns}
        return tuple(other.name for other in self.others if needed & {column.name for column in other.columns})

    def _function(
        self,
        column: Column | None,
        function: PeriodMeasure,
        keys: Sequence[Column],
        frequency: PeriodFrequency,
        conditions: Sequence[RowCondition],
    ) -> PeriodMeasure:
        """Return how the rows of a period become one value."""
        if function != "value":
            return function
        single = {condition.column for condition in conditions if len(condition.values) == 1}
        merged = [key for key in self.layout.keys if key not in keys and key.name not in single]
        own = self.measured.every, self.measured.step
        is_coarser = frequency != own and self.measured.every != "business_day"
        if self.layout.kind == "panel" and merged and not self._is_spare(keys):
            return self._measures.function(column) if column else "sum"
        if is_coarser and vocabulary.MAXIMUM.search(self.text):
            return "maximum"  # "peak load per day" of hours
        if is_coarser:
            return self._measures.function(column) if column else "mean"
        return "value"

    def _is_spare(self, keys: Sequence[Column]) -> bool:
        """Test if the keys are as good as those of the layout: a code instead of a name."""
        return len(keys) == len(self.layout.keys) and bool(keys)

    def _is_plain(self, aggregation: PeriodAggregation, conditions: Sequence[RowCondition]) -> bool:
        """Test if the rows are the series as they stand, which a forecast of rows ahead serves as well."""
        return (
            aggregation.axis is None
            and aggregation.measure == "value"
            and aggregation.answer in ("each_period", "last")
            and aggregation.bound is None
            and self.layout.kind == "series"
            and not conditions
            and not self.measured.gaps
            and self.table.rows == self.measured.times
            and self.goal.lookahead is not None
            and self._is_target(aggregation.column)
        )

    def _is_target(self, column: str | None) -> bool:
        """Test if a forecast of rows ahead would choose the same column."""
        return self._target is not None and self._target.name == column

    @cached_property
    def _target(self) -> Column | None:
        """The column that a model of rows would predict for this goal."""
        match = find_target(self.goal, [self.table], excluded=[*self.times])
        return match.target.column if match.target else None
