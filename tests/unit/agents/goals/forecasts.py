"""The forecast by period of a goal, as the planner finds it."""

from functools import partial

from app.agents.goals.goal import Goal
from app.agents.goals.series.period_forecast import PeriodForecast
from app.agents.goals.series.period_forecast_search import find_period_forecasts
from app.agents.goals.tables.profiles import TableProfile
from app.agents.planner.plan_conditions import find_row_conditions

FIND_ROWS = partial(find_row_conditions, of_series=True)


def find_period_forecast(goal: Goal, table: TableProfile, *, is_sure: bool = False) -> PeriodForecast | None:
    """Return the likeliest forecast of a goal."""
    return next(iter(find_period_forecasts(goal, table, FIND_ROWS, is_sure=is_sure)), None)
