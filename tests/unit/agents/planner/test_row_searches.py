"""Goals that ask for unusual rows or for groups of similar ones."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan


def number(name: str, low: float, high: float) -> dict[str, Any]:
    return {"name": name, "type": "number", "hint": "numeric", "distinct": 300, "min": low, "max": high}


CLIENTS = {
    "table": "clients",
    "rows": 400,
    "columns": [
        {"name": "client_no", "type": "integer", "hint": "id", "distinct": 400, "unique": True},
        number("age", 18, 90),
        number("income", 900, 9_000),
        number("price", 5, 90),
        {
            "name": "town",
            "type": "text",
            "hint": "category",
            "distinct": 2,
            "values": ["Ulm", "Kiel"],
            "top": [{"value": "Ulm"}, {"value": "Kiel"}],
        },
    ],
}


@pytest.mark.parametrize(
    ("goal", "search"),
    [
        ("find unusual clients", {"kind": "unusual"}),
        ("are there any outliers?", {"kind": "unusual"}),
        ("detect anomalies in income", {"kind": "unusual", "focus": "income"}),
        ("which clients are underpriced", {"kind": "unusual", "focus": "price", "side": "low"}),
        (
            "whose income is suspiciously high for the age",
            {"kind": "unusual", "focus": "income", "side": "high", "columns": ["age"]},
        ),
        ("segment our clients", {"kind": "groups"}),
        ("cluster the clients by age and income", {"kind": "groups", "columns": ["age", "income"]}),
        ("please split the clients into four groups", {"kind": "groups", "count": 4}),
        ("run k-means with k=3", {"kind": "groups", "count": 3}),
    ],
)
def test_the_search_is_planned_as_it_was_asked_for(goal: str, search: dict[str, Any]) -> None:
    plan = run_planner(goal, [CLIENTS])
    assert isinstance(plan, Plan)
    assert plan.row_search
    assert plan.row_search.model_dump(mode="json", exclude_defaults=True) == search
    assert plan.question == goal
    assert plan.understanding
    assert plan.row_search.describe("clients") in plan.understanding.text


def test_a_condition_restricts_the_rows_of_a_search() -> None:
    plan = run_planner("find outliers among the clients from Kiel", [CLIENTS])
    assert isinstance(plan, Plan)
    assert plan.row_search
    assert [(each.column, each.values) for each in plan.filter] == [("town", ["Kiel"])]


def test_rows_that_a_value_marks_as_unusual_are_no_search() -> None:
    rhythm = {
        "name": "rhythm",
        "type": "text",
        "hint": "category",
        "distinct": 2,
        "top": [{"value": "normal"}, {"value": "abnormal"}],
    }
    plan = run_planner(
        "detect abnormal rhythm",
        [{"table": "beats", "rows": 900, "columns": [number("beat_ms", 1, 9), rhythm]}],
    )
    assert isinstance(plan, Plan)
    assert (plan.target, plan.question, plan.row_search) == ("rhythm", None, None)


@pytest.mark.parametrize(
    "goal", ["mean income by town", "predict the income", "how many clients per segment of age"]
)
def test_other_goals_are_no_searches(goal: str) -> None:
    plan = run_planner(goal, [CLIENTS])
    assert not isinstance(plan, Plan) or plan.row_search is None
