"""Phrases of a goal that would select rows, by words that no part of its plan has."""

from typing import Any

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import make_table_profile
from app.agents.planner.clarification import ALL_ROWS, PHRASE_ROWS
from app.agents.planner.output import Plan
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.unread_phrases import find_unread_phrases


def _flag(name: str, *values: object) -> dict[str, Any]:
    return {
        "name": name,
        "type": "integer" if values == (0, 1) else "text",
        "hint": "boolean",
        "distinct": 2,
        "top": [{"value": value} for value in values],
    }


def _number(name: str, low: float, high: float) -> dict[str, Any]:
    facts = {"type": "number", "hint": "numeric", "distinct": 900}
    return {"name": name, **facts, "min": low, "max": high, "q50": (low + high) / 2}


METERS: dict[str, Any] = {
    "table": "meters",
    "rows": 1_000,
    "columns": [
        {"name": "meter_no", "type": "text", "hint": "id", "distinct": 1_000, "unique": True},
        _number("kwh", 0.0, 9.0),
        _number("rain_mm", 0.0, 60.0),
        {
            "name": "tariff",
            "type": "text",
            "hint": "category",
            "distinct": 2,
            "top": [{"value": value} for value in ("night", "flat")],
        },
        _flag("occupied", 0, 1),
        _flag("smoker", "N", "Y"),
        _flag("club_member", 0, 1),
        _flag("signature_req", 0, 1),
        _flag("gift_wrap", 0, 1),
    ],
}


@pytest.mark.parametrize(
    ("goal", "phrases"),
    [
        ("predict kwh for families with kids", ["with kids"]),
        ("predict kwh on snowy days, please", ["on snowy days"]),
        ("predict kwh on rainy days, please", []),
        ("predict kwh for the night tariff", []),
        ("predict kwh of commercial night meters", ["of commercial night meters"]),
        ("predict kwh when occupied", []),
        ("predict kwh in rented flats", ["in rented flats"]),
        ("predict kwh among children", ["among children"]),
        ("predict kwh for meters on loan", ["on loan"]),
        ("predict kwh of meters that were tested by a dealer", ["that were tested by a dealer"]),
        ("predict kwh for tenants who pay in cash", ["for tenants", "who pay in cash"]),
        ("predict kwh for the next three days", []),
        ("predict kwh for our monthly report", []),
        ("predict kwh for the spring newsletter", []),
        ("predict kwh for route planning", []),
        ("predict kwh in the mould", []),
        ("predict kwh for the renters", ["for the renters"]),
        ("predict kwh for the technicians", []),
        ("predict kwh as known at sign-up", []),
        ("predict kwh, compared with the other fragile ones", []),
        ("predict kwh of the tariff class night", []),
        ("predict kwh, not with the rain", []),
        ("predict kwh without the tariff, that would be circular", []),
        # Whatever the unknown words are about, they may be what is asked for.
        ("what will be burnt on rainy days", []),
    ],
)
def test_phrases_with_a_word_of_no_part_of_the_plan_are_found(goal: str, phrases: list[str]) -> None:
    table = make_table_profile(METERS)
    target = table.columns[1]
    conditions = find_row_conditions(parse_goal(goal), [table], target)
    unread = find_unread_phrases(parse_goal(goal), [table], target, conditions)
    assert [phrase.text for phrase in unread if not phrase.is_doubtful] == phrases


@pytest.mark.parametrize(
    ("goal", "condition"),
    [
        ("predict kwh for the smokers", "`smoker` is Y"),
        ("predict kwh of members", "`club_member` is 1"),
        ("predict kwh for meters that need a signature", "`signature_req` is 1"),
    ],
)
def test_a_noun_of_a_yes_or_no_column_selects_rows(goal: str, condition: str) -> None:
    plan = run_planner(goal, [METERS])
    assert isinstance(plan, Plan)
    assert [found.description for found in plan.filter] == [condition]


def test_a_phrase_of_the_unread_is_asked_about() -> None:
    question = run_planner("predict kwh for gift orders", [METERS])
    assert isinstance(question, PlannerQuestion)
    assert question.text.startswith(f"{PHRASE_ROWS} 'for gift orders'?")
    assert question.options == ("`gift_wrap` is 1", ALL_ROWS)


@pytest.mark.parametrize(
    ("answers", "conditions"),
    [
        ([ALL_ROWS], []),
        (["`gift_wrap` is 1"], ["`gift_wrap` is 1"]),
        (["rain_mm > 20"], ["`rain_mm` is above 20.0"]),
        (["the night tariff"], ["`tariff` is night"]),
        # Words of which nothing is known are asked about in their turn.
        (["wrapped ones", "smokers"], ["`smoker` is Y"]),
    ],
)
def test_the_answer_selects_the_rows(answers: list[str], conditions: list[str]) -> None:
    plan = run_planner("predict kwh for gift orders", [METERS], answers)
    assert isinstance(plan, Plan)
    assert [condition.description for condition in plan.filter] == conditions
    assert not [note for note in plan.notes if "select no rows" in note]


def test_a_phrase_that_may_say_where_the_rows_are_is_noted() -> None:
    plan = run_planner("predict kwh for comparison", [METERS])
    assert isinstance(plan, Plan)
    assert plan.notes == ["No part of the plan has all words of 'for comparison', so they select no rows."]
