"""Layouts of series in tables, and what is measured in them."""

from typing import Any

from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan


def _flag(name: str) -> dict[str, Any]:
    values = [{"value": 0}, {"value": 1}]
    return {
        "name": name,
        "type": "integer",
        "hint": "boolean",
        "distinct": 2,
        "top": values,
        "min": 0,
        "max": 1,
    }


SAILINGS = {
    "table": "sailings",
    "rows": 1_200,
    "columns": [
        {
            "name": "sailed_on",
            "type": "datetime",
            "hint": "datetime",
            "distinct": 300,
            "min": "2022-05-01",
            "max": "2023-02-24",
        },
        {"name": "riders", "type": "integer", "hint": "numeric", "distinct": 77, "min": 136, "max": 220},
        _flag("fog"),
        _flag("cancelled"),
    ],
}


def test_yes_no_columns_make_no_panel_by_chance() -> None:
    """Four sailings a day are no series for each pair of fog and cancellation."""
    plan = run_planner("how many riders in the next 7 days", [SAILINGS])
    assert isinstance(plan, Plan)
    assert plan.aggregation is not None
    assert (plan.aggregation.measure, plan.aggregation.column, plan.aggregation.keys) == ("sum", "riders", [])


def test_a_yes_or_no_of_one_row_is_no_sum_of_a_period() -> None:
    plan = run_planner("will tomorrows boat be cancelled", [SAILINGS])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.aggregation, plan.horizon) == ("cancelled", None, None)
