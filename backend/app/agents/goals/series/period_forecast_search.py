"""Forecasts of series: found in rows of any layout, or made of transactions by period first."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.clauses import head_stems
from app.agents.goals.columns.derived_targets import with_measures
from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.conditions.row_conditions import BOUNDS
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.periods import vocabulary
from app.agents.goals.periods.phrases import read_frequency
from app.agents.goals.periods.time_axis import MeasuredAxis
from app.agents.goals.phrases.past_spans import asks_about_past_span
from app.agents.goals.series.answer_form import asks_for_periods
from app.agents.goals.series.assumed_columns import split_assumptions
from app.agents.goals.series.axis_detection import find_time_axes
from app.agents.goals.series.keys import find_group_columns, find_ranked_keys
from app.agents.goals.series.layout import SeriesLayout, find_layout
from app.agents.goals.series.measures import MAX_NAME, SeriesMeasure
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.request import SeriesRequest
from app.agents.goals.series.restrictions import FindRows
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stems

MAX_MEASURES = 6
"""Measures that a question offers: as many as a user compares at a glance."""


def find_period_forecasts(
    goal: Goal,
    table: TableProfile,
    find_rows: FindRows,
    others: Sequence[TableProfile] = (),
    is_sure: bool = False,
) -> list[PeriodForecast]:
    """Return the forecast of a series that a goal asks for, then those of what else it could measure.

    There is none if the goal asks for something else, or if the rows are a plain series already, which needs no
    aggregation. `find_rows`: finds the conditions on rows. `others`: tables that may be joined if the goal
    restricts the rows by one of their columns. `is_sure`: the goal is known to ask for a forecast, whose
    measure and horizon may then be the usual ones.
    """
    match = _find(goal, table, find_rows, others, is_sure)
    if match is None:
        return []
    request, likeliest = match
    forecasts = (replace(request, measure=measure).find_forecast() for measure in request.measures())
    aggregations = {likeliest.aggregation.name: likeliest}
    for forecast in filter(None, forecasts):
        aggregations.setdefault(forecast.aggregation.name, forecast)
    return [*aggregations.values()][:MAX_MEASURES]


def _find(
    goal: Goal, table: TableProfile, find_rows: FindRows, others: Sequence[TableProfile], is_sure: bool
) -> tuple[SeriesRequest, PeriodForecast] | None:
    """Find a series of the table and its forecast."""
    assumed, remaining = split_assumptions(goal.text, table)
    goal = parse_goal(remaining) if assumed else goal
    # "Which branch will lend most" begins as a goal of classes does.
    # "People over 80" are counted where a column holds their age; other bounds are of what is forecast.
    counts_within = goal.threshold is not None and _counts_within_bounds(goal, [table, *others], find_rows)
    compares = goal.threshold is not None and not (counts_within or goal.threshold.describes_rows)
    is_of_classes = goal.kind == "classification" and not (compares or find_ranked_keys(goal.text, table))
    if goal.outlook or goal.wants_no_model or is_of_classes:
        return None
    if goal.threshold and not (counts_within or compares):
        return None
    is_past = vocabulary.PAST.search(goal.text) and not vocabulary.WILL.search(goal.text)
    # "How many orders did we get each week" asks about stored rows, and so does "orders in the last 3 weeks".
    if (is_past and not is_sure) or asks_about_past_span(goal.text):
        return None
    axes = find_time_axes(table)
    times = frozenset(name for measured in axes for name in measured.axis.columns)
    measurable = with_measures(goal, table)
    for measured in _rank_axes(goal, axes):
        request = SeriesRequest(
            goal,
            measurable,
            measured,
            find_layout(table, measured),
            times,
            find_rows,
            tuple(others),
            is_sure,
            measure=SeriesMeasure(None, MAX_NAME) if counts_within else None,
            assumed=assumed,
            compares_forecasts=compares,
        )
        # Things that are measured in turn have a row each at one of several times: "pressure per machine".
        if request.layout.kind == "series" and find_group_columns(goal.text, table):
            request = replace(request, layout=SeriesLayout("transactions"))
        # A number beside transactions is rather one of their rows: "deliveries of more than 10 km".
        if compares and request.layout.kind == "transactions":
            continue
        if not request.layout.is_complete:
            events = replace(request, layout=SeriesLayout("transactions"))
            request = events if events.asks_for_events(request.layout.keys) else request
        if forecast := request.find_forecast():
            return request, forecast
    return None


def _counts_within_bounds(goal: Goal, tables: Sequence[TableProfile], find_rows: FindRows) -> bool:
    """Test if a goal counts rows whose numbers lie above or below a bound: "parcels heavier than 10 kg"."""
    bounded = {c.column for c in find_rows(goal, tables, None) if c.operator in BOUNDS}
    if vocabulary.COUNT.search(goal.text):
        return bool(bounded) and not asks_for_periods(goal.text)
    # "Parcels above 5 kg per week" are counted, and "weights above 5 kg" are no parcels.
    heads = {*head_stems(goal.target_text)}
    return read_frequency(goal.text) is not None and any(heads.isdisjoint(stems(name)) for name in bounded)


def _rank_axes(goal: Goal, axes: Sequence[MeasuredAxis]) -> list[MeasuredAxis]:
    goal_stems = set(stems(goal.text))

    def rank(measured: MeasuredAxis) -> tuple[bool, bool, bool, bool]:
        name = measured.axis.columns[0] if measured.axis.columns else ""
        is_named = bool(goal.time_phrase and name in match_columns(goal.time_phrase, [Column(name, "", "")]))
        tells_event = bool(goal_stems & set(stems(name)) - vocabulary.TIME_STEMS)
        is_later = bool(vocabulary.LATER_DATES.search(name) or vocabulary.PLANNED_DATES.search(name))
        return not is_named, not tells_event, is_later, bool(vocabulary.PLANNED_DATES.search(name))

    return sorted(axes, key=rank)
