"""Forecasts of a target that the preferences name, in tables whose times are years."""

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.planner.output import Plan

YEARS = {
    "table": "herds",
    "rows": 60,
    "columns": [
        {
            "name": "year",
            "type": "integer",
            "hint": "numeric",
            "distinct": 60,
            "unique": True,
            "min": 1950,
            "max": 2009,
        },
        {"name": "sheep", "type": "number", "hint": "numeric", "distinct": 60, "min": 210.5, "max": 460.2},
        {"name": "goats", "type": "number", "hint": "numeric", "distinct": 60, "min": 21.5, "max": 46.2},
    ],
}
GOAL = "Forecast sheep for each of the next 3 years."


@pytest.mark.parametrize("preferences", [{}, {"target": "sheep"}, {"target": "sheep", "metric": "mae"}])
def test_a_column_beside_years_is_forecast_by_year(preferences: dict[str, str]) -> None:
    plan = run_planner(GOAL, [YEARS], preferences=preferences)
    assert isinstance(plan, Plan)
    assert (plan.target, plan.time_column, plan.horizon, plan.every_step) == ("sheep", "year", 3, True)
    assert plan.aggregation is not None
    assert (plan.aggregation.measure, plan.aggregation.every) == ("value", "year")


def test_a_model_that_is_asked_for_is_no_forecast_of_periods() -> None:
    plan = run_planner(GOAL, [YEARS], preferences={"target": "sheep", "problem": "classification"})
    assert isinstance(plan, PlannerQuestion) or plan.aggregation is None
