"""Goals that ask how probable something is of each row, and for which amount a row has."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan

MEMBERS: dict[str, Any] = {
    "table": "gym_members",
    "rows": 3000,
    "columns": [
        {"name": "member_id", "type": "text", "hint": "id", "distinct": 3000, "unique": True},
        {
            "name": "plan",
            "type": "text",
            "hint": "category",
            "distinct": 3,
            "top": [{"value": value} for value in ("basic", "gold", "silver")],
        },
        {"name": "visits_a_month", "type": "integer", "hint": "numeric", "distinct": 25, "min": 0, "max": 24},
        {"name": "loan_rate", "type": "number", "hint": "numeric", "distinct": 900, "min": 1.5, "max": 14.0},
        {
            "name": "smoker",
            "type": "text",
            "hint": "boolean",
            "distinct": 2,
            "top": [{"value": value} for value in ("N", "Y")],
        },
        {
            "name": "churned",
            "type": "integer",
            "hint": "boolean",
            "distinct": 2,
            "min": 0,
            "max": 1,
            "top": [{"value": value} for value in (0, 1)],
        },
    ],
}


@pytest.mark.parametrize(
    ("goal", "restricted"),
    [
        ("score every member for churn, best first", []),
        ("gold members at high risk of churn", ["plan"]),
        ("Identify smokers at risk of churning", ["smoker"]),
    ],
)
def test_the_outcome_is_the_target(goal: str, restricted: list[str]) -> None:
    plan = run_planner(goal, [MEMBERS])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.question) == ("churned", None)
    assert [condition.column for condition in plan.filter] == restricted


def test_a_rate_that_is_asked_for_is_an_amount() -> None:
    plan = run_planner("Which loan rate should a member expect?", [MEMBERS])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.kind) == ("loan_rate", "regression")
