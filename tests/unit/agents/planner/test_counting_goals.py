"""Goals that ask how many there are train no model, whatever words of models their columns have."""

from typing import Any

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.planner.output import Plan

FALLS: dict[str, Any] = {
    "table": "falls",
    "rows": 80,
    "columns": [
        {
            "name": "report",
            "type": "integer",
            "hint": "id",
            "distinct": 80,
            "unique": True,
            "min": 1,
            "max": 80,
        },
        {
            "name": "ward",
            "type": "text",
            "hint": "category",
            "distinct": 2,
            "top": [{"value": value} for value in ("Iris", "Lotus")],
        },
        {"name": "risk_score", "type": "integer", "hint": "numeric", "distinct": 12, "min": 1, "max": 12}
        | {"missing_share": 0.1},
    ],
}


def test_a_number_of_rows_is_counted() -> None:
    plan = run_planner("in how many reports is the risk score above 7?", [FALLS])
    assert isinstance(plan, Plan)
    assert plan.parsed_question is not None


@pytest.mark.parametrize("goal", ["how many of them will fall next month?", "predict the risk score"])
def test_a_number_of_the_future_is_not(goal: str) -> None:
    plan = run_planner(goal, [FALLS])
    assert isinstance(plan, PlannerQuestion) or plan.parsed_question is None
