"""The order of texts that are steps of a scale, and bounds on them."""

import pytest

from app.agents.goals.columns.outright_names import is_named_first
from app.agents.goals.conditions.scale_bounds import find_scale_bounds
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.ordinal_scales import order_steps
from app.agents.goals.tables.profiles import Column, TableProfile


@pytest.mark.parametrize(
    "steps",
    [
        ["low", "medium", "high"],
        ["Never", "Rarely", "Sometimes", "Often", "Always"],
        ["S", "M", "L", "XL"],
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        ["Very_Poor", "Poor", "Fair", "Good", "Excellent"],
        ["1 - low", "2 - medium", "3 - high"],
        ["<18", "18-24", "25-64", "65+"],
        ["5-9", "10-14", "15-19"],
        ["Grade 2", "Grade 9", "Grade 10"],
        ["Bronze", "Silver", "Gold"],
    ],
)
def test_steps_are_ordered(steps: list[str]) -> None:
    assert order_steps(sorted(steps)) == steps


@pytest.mark.parametrize(
    "values",
    [
        ["East", "West"],
        ["low", "red"],
        ["high"],
        ["medium", "moderate"],
        ["A1", "B2"],
        ["yes", "no"],
        [f"Lane {number}" for number in range(1, 30)],
    ],
)
def test_other_texts_have_no_order(values: list[str]) -> None:
    assert order_steps(values) is None


def _table(name: str, values: tuple[str, ...]) -> TableProfile:
    column = Column(name, "text", "category", distinct=len(values), values=values)
    return TableProfile("orders", 100, (column,))


CONDITIONS = _table("state", ("good", "poor", "fair", "excellent"))
SIZES = _table("size", ("L", "M", "S", "XL"))
SEVERITIES = _table("severity", ("mild", "severe", "moderate"))


@pytest.mark.parametrize(
    ("table", "text", "values"),
    [
        (CONDITIONS, "flats in good or better condition", ("good", "excellent")),
        (CONDITIONS, "flats in fair or worse state", ("poor", "fair")),
        (CONDITIONS, "better than fair", ("good", "excellent")),
        (CONDITIONS, "at most fair", ("poor", "fair")),
        (SIZES, "orders of size L or larger", ("L", "XL")),
        (SIZES, "size above M", ("L", "XL")),
        (SEVERITIES, "cases that are moderate or worse", ("moderate", "severe")),
    ],
)
def test_bounds_are_the_values_that_meet_them(table: TableProfile, text: str, values: tuple[str, ...]) -> None:
    assert [bound.values for bound in find_scale_bounds(text, [table])] == [values]


def test_a_letter_in_a_sentence_is_no_size() -> None:
    assert find_scale_bounds("orders over s days", [SIZES]) == []


def test_a_verb_that_scores_rows_names_what_follows_it() -> None:
    assert parse_goal("score applicants by default risk").target_text.split()[:3] == [
        "predict",
        "the",
        "default",
    ]


def test_a_whole_name_beside_a_longer_one_is_meant() -> None:
    names = ["score", "score_next_term"]
    assert is_named_first("score at the end of the year", "score", names, {"predict", "score", "end", "year"})
    assert not is_named_first("score of the next term", "score", names, {"score", "next", "term"})
