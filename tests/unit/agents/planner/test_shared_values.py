"""The question for the rows of a value that several columns have."""

from typing import Any

from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.planner.clarification import ALL_ROWS, WHICH_ROWS
from app.agents.planner.output import Plan


def _category(name: str, *values: str) -> dict[str, Any]:
    facts = {"name": name, "type": "text", "hint": "category", "distinct": 3, "missing": 0.0, "unique": False}
    return {**facts, "top": [{"value": value, "count": 200} for value in values]}


MATCHES = {
    "table": "matches",
    "rows": 600,
    "columns": [
        _category("home_team", "Rovers", "United", "Albion"),
        _category("away_team", "Rovers", "United", "Albion"),
        _category("first_city", "Rome", "Oslo", "Bern"),
        _category("second_city", "Rome", "Oslo", "Bern"),
        {
            "name": "attendance",
            "type": "integer",
            "hint": "numeric",
            "distinct": 500,
            "missing": 0.0,
            "unique": False,
            "top": None,
            "min": 9_000,
            "max": 61_000,
            "q50": 30_000,
        },
    ],
}
GOAL = "predict attendance for Rovers games"


def test_the_column_of_a_shared_value_is_asked_for() -> None:
    question = run_planner(GOAL, [MATCHES])
    assert isinstance(question, PlannerQuestion)
    assert question.text.startswith(WHICH_ROWS)
    assert question.options == ("`home_team` is Rovers", "`away_team` is Rovers", ALL_ROWS)


def test_the_chosen_column_selects_the_rows() -> None:
    plan = run_planner(GOAL, [MATCHES], ["`away_team` is Rovers"])
    assert isinstance(plan, Plan)
    assert [condition.description for condition in plan.filter] == ["`away_team` is Rovers"]


def test_all_rows_may_be_chosen() -> None:
    plan = run_planner(GOAL, [MATCHES], [ALL_ROWS])
    assert isinstance(plan, Plan)
    assert plan.filter == []


def test_each_shared_value_is_asked_for() -> None:
    goal = "predict attendance for Rovers games with Oslo fans"
    question = run_planner(goal, [MATCHES], ["`home_team` is Rovers"])
    assert isinstance(question, PlannerQuestion)
    assert question.options == ("`first_city` is Oslo", "`second_city` is Oslo", ALL_ROWS)
    plan = run_planner(goal, [MATCHES], ["`home_team` is Rovers", "`second_city` is Oslo"])
    assert isinstance(plan, Plan)
    assert [condition.description for condition in plan.filter] == [
        "`home_team` is Rovers",
        "`second_city` is Oslo",
    ]


def test_a_model_of_past_rows_is_no_question_about_them() -> None:
    goal = "build a classifier for home_team with the last 12 months as history"
    plan = run_planner(goal, [MATCHES])
    assert isinstance(plan, Plan)
    assert (plan.target, plan.kind) == ("home_team", "classification")
