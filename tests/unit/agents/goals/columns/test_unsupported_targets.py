"""Targets for which no word of their goal speaks."""

from typing import Any

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.planner.output import Plan


def _number(name: str, low: float, high: float) -> dict[str, Any]:
    facts = {"type": "number", "hint": "numeric", "distinct": 300}
    return {"name": name, **facts, "min": low, "max": high, "q50": (low + high) / 2}


def _category(name: str, *values: str) -> dict[str, Any]:
    facts = {"type": "text", "hint": "category", "distinct": len(values)}
    return {"name": name, **facts, "top": [{"value": value} for value in values]}


TESTS = {
    "table": "dairy_tests",
    "rows": 9_600,
    "columns": [
        _category("herd", "Upper Farm", "Lower Farm", "Hillside"),
        _category("breed", "Holstein", "Jersey", "Ayrshire"),
        _number("milk_kg", 12.5, 46.0),
        _number("fat_pct", 3.1, 5.5),
        _number("feed_kg", 14.0, 27.0),
    ],
}


@pytest.mark.parametrize(
    ("goal", "target"), [("predict the price of milk", "milk_kg"), ("predict the cost of feed", "feed_kg")]
)
def test_what_something_is_of_is_no_target(goal: str, target: str) -> None:
    question = run_planner(goal, [TESTS])
    assert isinstance(question, PlannerQuestion)
    assert target in question.options


@pytest.mark.parametrize(
    ("goal", "target"),
    [
        ("predict the milk yield", "milk_kg"),
        ("forecast milk", "milk_kg"),
        ("predict the amount of feed", "feed_kg"),
        ("how much fat will a cow give", "fat_pct"),
    ],
)
def test_a_word_for_the_target_settles_it(goal: str, target: str) -> None:
    plan = run_planner(goal, [TESTS])
    assert isinstance(plan, Plan)
    assert plan.target == target
