"""Forecasts of series: found in rows of any layout, or made of transactions by period first."""

from collections.abc import Sequence

from app.agents.goals import period_vocabulary as vocabulary
from app.agents.goals.axis_detection import find_time_axes
from app.agents.goals.columns import match_columns
from app.agents.goals.goal import Goal
from app.agents.goals.series_layout import find_layout
from app.agents.goals.series_request import PeriodForecast, SeriesRequest
from app.agents.goals.tables import Column, TableProfile
from app.agents.goals.time_axis import MeasuredAxis


def find_period_forecast(
    goal: Goal, table: TableProfile, others: Sequence[TableProfile] = ()
) -> PeriodForecast | None:
    """Return the forecast of a series that a goal asks for; None if it asks for something else, or if the rows
    are a plain series already, which needs no aggregation.

    `others`: tables that may be joined if the goal restricts the rows by one of their columns.
    """
    if goal.outlook or goal.threshold or goal.wants_no_model or goal.kind == "classification":
        return None
    is_past = vocabulary.PAST.search(goal.text) and not vocabulary.WILL.search(goal.text)
    if is_past or not vocabulary.AHEAD.search(goal.text):
        return None
    axes = find_time_axes(table)
    times = frozenset(name for measured in axes for name in measured.axis.columns)
    for measured in _rank_axes(goal, axes):
        request = SeriesRequest(goal, table, measured, find_layout(table, measured), times, tuple(others))
        if forecast := request.find_forecast():
            return forecast
    return None


def _rank_axes(goal: Goal, axes: Sequence[MeasuredAxis]) -> list[MeasuredAxis]:
    def rank(measured: MeasuredAxis) -> tuple[bool, bool]:
        name = measured.axis.columns[0] if measured.axis.columns else ""
        is_named = bool(goal.time_phrase and name in match_columns(goal.time_phrase, [Column(name, "", "")]))
        return not is_named, bool(vocabulary.LATER_DATES.search(name))

    return sorted(axes, key=rank)
