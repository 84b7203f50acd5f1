"""Forecasts of goals that assume something of the future: the plan says that it has no effect."""

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan

DAYS = {
    "table": "shop_days",
    "rows": 730,
    "columns": [
        {
            "name": "date",
            "type": "datetime",
            "hint": "datetime",
            "distinct": 730,
            "unique": True,
            "min": "2023-01-01",
            "max": "2024-12-30",
        },
        {"name": "ad_spend", "type": "integer", "hint": "numeric", "distinct": 700, "min": 1000, "max": 8000},
        {"name": "sales_eur", "type": "integer", "hint": "numeric", "distinct": 720, "min": 9000, "max": 27000},
    ],
}


def test_a_plan_says_what_has_no_effect() -> None:
    plan = run_planner("Forecast sales for the next 14 days with ad spend of 6000", [DAYS])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.horizon) == ("sales_eur", 14)
    assert plan.notes == [
        "What the goal assumes of `ad_spend` has no effect: a forecast goes on from past values of the series"
        ' alone. A model of rows uses it: "Predict `sales_eur` from `ad_spend`".'
    ]


@pytest.mark.parametrize(
    "goal",
    [
        "Forecast sales for the next 14 days. We know the ad spend of the coming days.",
        "Forecast sales for the next 14 days, knowing the ad spend of those days",
        "Forecast sales for the next 14 days; ad spend is known in advance",
        "We already know next month's ad spend: forecast sales for the next 14 days",
    ],
)
def test_what_is_known_of_the_future_is_named_and_said_to_have_no_effect(goal: str) -> None:
    plan = run_planner(goal, [DAYS])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.horizon) == ("sales_eur", 14)
    assert any("`ad_spend` has no effect" in note for note in plan.notes)


def test_what_is_known_of_the_past_is_no_assumption() -> None:
    plan = run_planner("Forecast sales for the next 14 days. I know the ad spend of last year.", [DAYS])
    assert isinstance(plan, Plan)
    assert not plan.notes


def test_a_forecast_without_an_assumption_says_nothing_of_it() -> None:
    plan = run_planner("Forecast sales for the next 14 days", [DAYS])
    assert isinstance(plan, Plan)
    assert not plan.notes
