"""Columns that a goal leaves out in other words than their names."""

import pytest

from app.agents.goals.columns.meant_exclusions import find_meant_exclusions
from app.agents.goals.columns.named_columns import excluded_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile

BOATS = TableProfile(
    "boats",
    900,
    (
        Column("sold_gbp", "number", "numeric", 600, low=900, high=90_000),
        Column("ask_gbp", "number", "numeric", 600, low=900, high=99_000),
        Column("nViews", "integer", "numeric", 300, low=0, high=4_000),
        Column("hull_len_m", "number", "numeric", 200, low=3, high=20),
        Column("qual", "integer", "numeric", 5, low=1, high=5),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("predict sold_gbp without looking at the asking price", ["ask_gbp"]),
        ("predict sold_gbp, ignore the number of views", ["nViews"]),
        ("predict sold_gbp, not knowing the quality", ["qual"]),
        ("predict sold_gbp without the lengths of the hulls", ["hull_len_m"]),
        ("predict sold_gbp without the weather", []),
        ("predict sold_gbp without hull_len_m", []),
    ],
)
def test_words_in_other_forms_mean_the_column_that_is_left_out(goal: str, expected: list[str]) -> None:
    parsed = parse_goal(goal)
    _, unmatched = excluded_columns(parsed, BOATS, "sold_gbp")
    exclusions = find_meant_exclusions(parsed, unmatched, BOATS, "sold_gbp")
    assert [name for exclusion in exclusions for name in exclusion.columns] == expected
