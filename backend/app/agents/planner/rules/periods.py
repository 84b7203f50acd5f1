"""Rules about time: forecasts of periods, and the dates that order the rows."""

from collections.abc import Sequence
from functools import partial

from app.agents.goals.columns import named_columns
from app.agents.goals.columns.ahead_names import lies_ahead
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.periods.vocabulary import AHEAD
from app.agents.goals.series.assumed_columns import split_assumptions
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.period_forecast_search import find_period_forecasts
from app.agents.goals.series.select_sql import IN_EACH
from app.agents.goals.series.unread_words import find_unread_words
from app.agents.goals.tables.profiles import TableProfile, mentioned_tables
from app.agents.goals.words.tokenizer import words
from app.agents.planner import clarification
from app.agents.planner.period_plan import make_period_plan
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.rules import question
from app.agents.planner.rules.plan_request import find_ambiguous_dates
from app.agents.planner.rules.refusals import refuse
from app.agents.planner.stored_prices import PRICES
from app.agents.runtime.offline_policy import AgentAction, finish
from app.modeling.problem.metrics import REGRESSION_METRICS

MIN_FORECAST = 0.7
"""Probability from which a goal is a forecast, whatever its words: clearly more than the even chance."""
MIN_FIGURE = 0.8
"""Probability of a question from which a month or a year in a goal is one of the stored rows."""


def plan_period_forecast(situation: Situation) -> AgentAction | None:
    """Plan the forecast of transactions that are counted or summed by period.

    A counted horizon ahead (`the next 10 days`) is no period of stored rows: what looks like a question of
    figures is then one of their forecast.
    """
    counts_ahead = situation.goal.lookahead is not None and bool(AHEAD.search(situation.goal.text))
    figure, forecast = situation.aims["question"], situation.aims["forecast"]
    if counts_ahead:
        figure, forecast = 0.0, forecast + figure
    is_sure = figure >= MIN_FIGURE or (not counts_ahead and question.asks_for_figure(situation.goal.text))
    is_figure = is_sure and not _names_year_ahead(situation)
    is_series_of_target = _forecasts_target_without_dates(situation, counts_ahead)
    if (situation.preferences.implies_model and not is_series_of_target) or is_figure:
        return None
    goal = _reworded_goal(situation)
    candidates = [_find_forecasts(situation, goal, table, forecast) for table in _stored_tables(situation)]
    # What lies ahead of its row is predicted for each row: the time to come is that of the column's name.
    forecasts = [
        measured for measured in candidates if measured and not lies_ahead(measured[0].aggregation.column or "")
    ]
    if len(forecasts) > 1:
        forecasts = _select_forecasts(situation, forecasts)
    if is_series_of_target:
        forecasts = [of_target for measured in forecasts if (of_target := _keep_target(situation, measured))]
    # Of several series none is preferred: the rules after this one ask which is meant.
    if len(forecasts) != 1 or (not counts_ahead and question.is_sure_figure(situation)):
        return None
    return _plan_or_ask(situation, forecasts[0])


def _forecasts_target_without_dates(situation: Situation, counts_ahead: bool) -> bool:
    """Test for a preferred target of a forecast whose times are no dates, such as years.

    A target beside dates is a series as it stands; other times are made dates by the plan of periods alone.
    """
    preferences, target = situation.preferences, situation.target
    other_settings = preferences.model_copy(update={"target": None, "metric": None, "horizon": None})
    is_of_amount = preferences.metric is None or preferences.metric in REGRESSION_METRICS
    if not counts_ahead or preferences.target is None or preferences.time_column or target is None:
        return False
    return is_of_amount and not other_settings.implies_model and not target.table.dates


def _keep_target(situation: Situation, forecasts: Sequence[PeriodForecast]) -> list[PeriodForecast]:
    """Keep the forecasts of the preferred target."""
    return [f for f in forecasts if f.aggregation.column == situation.preferences.target]


def _stored_tables(situation: Situation) -> list[TableProfile]:
    return [table for table in situation.tables if table is not PRICES]


def _find_forecasts(
    situation: Situation, goal: Goal, table: TableProfile, probability: float
) -> list[PeriodForecast]:
    """Return the forecast of a table that the goal asks for, and those of what else it could measure."""
    others = [other for other in _stored_tables(situation) if other is not table]
    # Which of several dates a counted horizon is counted in is asked about.
    is_sure = probability >= MIN_FORECAST and not (goal.lookahead and len(table.dates) > 1)
    return find_period_forecasts(goal, table, partial(find_row_conditions, of_series=True), others, is_sure)


def _reworded_goal(situation: Situation) -> Goal:
    """Return the goal with what the user added to it when asked what should be forecast."""
    answer = situation.answer_to(clarification.WHICH_MEASURE)
    is_offered = answer is None or answer == clarification.STOP or IN_EACH in answer
    return situation.goal if is_offered else parse_goal(f"{situation.goal.text}, {answer}")


def _plan_or_ask(situation: Situation, forecasts: Sequence[PeriodForecast]) -> AgentAction:
    """Plan the first forecast or the chosen one; ask if words of the goal have to do with none of its parts."""
    answer = situation.answer_to(clarification.WHICH_MEASURE)
    if answer == clarification.STOP:
        return refuse("There is nothing to forecast.")
    selected = next((f for f in forecasts if f.aggregation.description == answer), forecasts[0])
    assumed, remaining = split_assumptions(situation.goal.text, selected.table)
    goal = parse_goal(remaining) if assumed else situation.goal
    if answer is None and (unread := find_unread_words(goal, selected)):
        is_only_series = selected.aggregation.measure == "value" and len(forecasts) == 1
        if not is_only_series:
            return _ask_for_measure(situation, unread, forecasts)
    plan = make_period_plan(selected, situation.resolved.notes)
    understanding = plan.understanding
    return finish(plan, message=understanding.text if understanding else "")


def _ask_for_measure(
    situation: Situation, unread: Sequence[str], forecasts: Sequence[PeriodForecast]
) -> AgentAction:
    measures = [forecast.aggregation.description for forecast in forecasts]
    if situation.preferences.clarify == "never":
        listing = ", ".join(repr(word) for word in unread)
        return refuse(
            f"No column or value of `{forecasts[0].table.name}` has to do with {listing}. What can be forecast:"
            f" {'; '.join(measures)}."
        )
    return clarification.ask_measure(unread, measures)


def _select_forecasts(
    situation: Situation, forecasts: Sequence[list[PeriodForecast]]
) -> list[list[PeriodForecast]]:
    """Select the forecasts of tables that the goal mentions; without any, that of the likeliest column."""
    mentioned = mentioned_tables([first.table for first, *_ in forecasts], situation.goal.text)
    if mentioned:
        return [measured for measured in forecasts if measured[0].table in mentioned]
    likeliest = situation.target
    return [
        measured
        for measured in forecasts
        if likeliest
        and (measured[0].table.name, measured[0].aggregation.column)
        == (likeliest.table.name, likeliest.column.name)
    ]


def _names_year_ahead(situation: Situation) -> bool:
    """Test if the goal names a year after the last date of the tables, of which no row is stored."""
    dates = [str(column.high)[:4] for table in situation.tables for column in table.dates]
    years = [word for word in words(situation.goal.text) if len(word) == len("2000") and word.isdecimal()]
    return bool(dates and years) and max(years) > max(dates)


def ask_about_missing_dates(situation: Situation) -> AgentAction | None:
    """Ask if a forecast may be made without dates."""
    target = situation.target
    if (
        target is None
        or not situation.goal.lookahead
        or lies_ahead(target.column.name)
        or target.table.dates
        or situation.preferences.time_column
    ):
        return None
    if situation.preferences.clarify == "never":
        return refuse(
            f"The goal looks ahead in time, and no column of `{target.table.name}` holds dates. Upload a table"
            f" with dates, or ask for `{target.column.name}` of a row without a time."
        )
    is_answered = situation.answer_to(clarification.WITHOUT_DATES)
    return None if is_answered else clarification.ask_without_dates(target.column)


def ask_about_time(situation: Situation) -> AgentAction | None:
    """Ask for the time column of a forecast over a table with several dates."""
    target, goal = situation.target, situation.goal
    if target is None or lies_ahead(target.column.name):
        return None
    if not goal.lookahead or goal.time_phrase or situation.preferences.time_column:
        return None
    dates = named_columns.date_columns(goal, target.table)
    is_open = len(dates) > 1 and not situation.answer_to(clarification.WHICH_TIME)
    return clarification.ask_time(dates) if is_open else None


def ask_about_dates(situation: Situation) -> AgentAction | None:
    dates = find_ambiguous_dates(situation)
    return clarification.ask_date_order(dates) if dates and not situation.date_order_answer else None
