"""Bounds of a goal that count something else than its target."""

from typing import Any

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.planner.output import Plan


def _column(name: str, type_: str = "number", **facts: Any) -> dict[str, Any]:
    base = {"name": name, "type": type_, "hint": "numeric", "distinct": 300, "missing": 0.0, "unique": False}
    return {**base, "top": None, "min": 0.5, "max": 90.0, "q50": 20.0, **facts}


CABINS = {
    "table": "cabins",
    "rows": 2_000,
    "columns": [
        _column("kwh"),
        _column("guests_n", "integer", distinct=7, min=0, max=6, q50=2),
        _column("beds", "integer", distinct=5, min=1, max=5, q50=2),
        _column("heated_m2", min=20.0, max=80.0),
    ],
}
GOAL = "predict kwh of stays of three or more people"


def test_a_bound_of_another_noun_is_asked_about_and_no_class_of_the_target() -> None:
    planned = run_planner(GOAL, [CABINS])
    assert isinstance(planned, PlannerQuestion)
    assert "guests_n >= 3" in planned.options


@pytest.mark.parametrize(
    ("answer", "selected", "cut"),
    [
        ("guests_n >= 3", "`guests_n` is at least 3.0", None),
        ("beds < 4", "`beds` is below 4.0", None),
        ("kwh > 3", "", 3.0),
        ("nothing, predict the amount", "", None),
    ],
)
def test_a_comparison_of_another_column_selects_rows(answer: str, selected: str, cut: float | None) -> None:
    plan = run_planner(GOAL, [CABINS], [answer])
    assert isinstance(plan, Plan)
    assert " and ".join(condition.description for condition in plan.filter) == selected
    assert (plan.cut.value if plan.cut else None) == cut


@pytest.mark.parametrize(
    ("goal", "selected"),
    [
        ("predict kwh of stays with more than 3 guests", "`guests_n` is above 3.0"),
        ("predict kwh of cabins with 4 beds or more", "`beds` is at least 4.0"),
    ],
)
def test_a_bound_of_a_noun_that_is_a_column_selects_rows(goal: str, selected: str) -> None:
    plan = run_planner(goal, [CABINS])
    assert isinstance(plan, Plan)
    assert " and ".join(condition.description for condition in plan.filter) == selected
    assert plan.cut is None


@pytest.mark.parametrize(
    ("goal", "is_inclusive"),
    [
        ("predict if kwh is 40 or higher", True),
        ("predict kwh >= 40", True),
        ("predict whether kwh is 40+", True),
        ("predict if kwh is above 40", False),
    ],
)
def test_a_class_of_the_target_has_the_value_of_its_bound_where_the_goal_says_so(
    goal: str, is_inclusive: bool
) -> None:
    plan = run_planner(goal, [CABINS])
    assert isinstance(plan, Plan)
    assert plan.cut is not None
    assert (plan.cut.above, plan.cut.value, plan.cut.is_inclusive) == (True, 40.0, is_inclusive)


def test_a_sign_behind_another_column_selects_rows() -> None:
    plan = run_planner("predict kwh where heated_m2 >= 40", [CABINS])
    assert isinstance(plan, Plan)
    assert plan.cut is None
    assert [condition.description for condition in plan.filter] == ["`heated_m2` is at least 40.0"]
