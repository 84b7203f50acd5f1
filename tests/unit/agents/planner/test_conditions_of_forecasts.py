"""Conditions on the rows of a goal about what rises or falls."""

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan

QUOTES = {
    "table": "quotes",
    "rows": 2_100,
    "columns": [
        {
            "name": "traded_on",
            "type": "datetime",
            "hint": "datetime",
            "distinct": 700,
            "min": "2021-06-01",
            "max": "2024-02-02",
        },
        {
            "name": "ticker",
            "type": "text",
            "hint": "category",
            "distinct": 2,
            "top": [{"value": "MARL"}, {"value": "TEAL"}],
        },
        *(
            {"name": name, "type": "number", "hint": "numeric", "distinct": 900, "min": 30.0, "max": 90.0}
            for name in ("open", "high", "low", "close", "volume")
        ),
    ],
}


@pytest.mark.parametrize("goal", ["will TEAL fall next week", "Will TEAL go up tomorrow?"])
def test_what_rises_or_falls_restricts_the_rows(goal: str) -> None:
    plan = run_planner(goal, [QUOTES])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.outlook) == ("close", "direction")
    assert [(condition.column, condition.values) for condition in plan.filter] == [("ticker", ["TEAL"])]
