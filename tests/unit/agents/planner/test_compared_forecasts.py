"""Goals that compare forecasts: which of several series is first, and which periods lie beyond a number."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan

DAYS = 180


def _column(name: str, kind: str, **facts: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "missing": 0, **facts}


DAY = _column(
    "day",
    "datetime",
    hint="datetime",
    distinct=DAYS,
    min="2024-01-01",
    max="2024-06-28",
    examples=["2024-01-01", "2024-02-01"],
)
SHOP = _column(
    "bakery",
    "text",
    hint="category",
    distinct=3,
    top=[{"value": name, "count": DAYS} for name in ("Hill", "Port", "Mill")],
)
TAKINGS = _column("takings", "number", hint="measure", distinct=500, min=400.0, median=900.0, max=1800.0)
WASTE = _column("rolls_wasted", "integer", hint="measure", distinct=9, min=0, median=4, max=9)
PANEL = {"table": "bakeries", "rows": 3 * DAYS, "columns": [DAY, SHOP, TAKINGS, WASTE]}
SERIES = {"table": "bakery", "rows": DAYS, "columns": [DAY, TAKINGS, WASTE]}


def _plan(goal: str, schema: dict[str, Any]) -> Plan:
    plan = run_planner(goal, [schema])
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.parametrize(
    ("goal", "column", "ranking"),
    [
        ("Which bakery will have the highest takings next week?", "takings", "most"),
        ("which bakery will waste the fewest rolls over the next 10 days", "rolls_wasted", "least"),
        ("rank the bakeries by expected takings for the next 14 days", "takings", "most"),
        ("top bakery by forecast takings next week", "takings", "most"),
    ],
)
def test_series_are_ranked_by_one_number_of_each(goal: str, column: str, ranking: str) -> None:
    series = _plan(goal, PANEL).aggregation
    assert series is not None
    assert (series.column, series.keys, series.ranking, series.answer) == (column, ["bakery"], ranking, "sum")


def test_a_forecast_of_each_series_ranks_none() -> None:
    series = _plan("Forecast takings per bakery for the next 7 days", PANEL).aggregation
    assert series is not None
    assert (series.keys, series.ranking, series.answer) == (["bakery"], None, "each_period")


@pytest.mark.parametrize(
    ("goal", "sign", "value"),
    [
        ("are takings above 1000 each day next week?", ">", 1000),
        ("Will takings stay below 1200 in the next 14 days?", "<", 1200),
        ("how many days in the next 30 days will takings exceed 900", ">", 900),
    ],
)
def test_each_period_is_compared_with_a_number(goal: str, sign: str, value: float) -> None:
    plan = _plan(goal, SERIES)
    assert plan.aggregation is not None
    assert plan.aggregation.bound is not None
    assert (plan.aggregation.bound.sign, plan.aggregation.bound.value) == (sign, value)
    assert (plan.aggregation.column, plan.aggregation.answer, plan.cut) == ("takings", "each_period", None)
    assert plan.filter == []


def test_of_one_period_the_probability_of_a_class_is_predicted() -> None:
    plan = _plan("will takings be over 1000 tomorrow?", SERIES)
    assert (plan.aggregation, plan.horizon) == (None, 1)
    assert plan.cut is not None
    assert plan.cut.value == 1000
