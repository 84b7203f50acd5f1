"""Phrases that exclude columns, by their verb or by their place in the sentence."""

import pytest

from app.agents.goals.columns.named_columns import excluded_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile

STAFF = TableProfile(
    "staff",
    900,
    (
        Column("gender", "text", "category", 2),
        Column("date_of_birth", "datetime", "datetime", 700),
        Column("sick_days", "integer", "numeric", 30),
        Column("site", "text", "category", 5),
        Column("left", "text", "category", 2),
    ),
)


@pytest.mark.parametrize(
    ("goal", "excluded"),
    [
        ("Who leaves? Works council: no gender, no date of birth", {"gender", "date_of_birth"}),
        ("Predict left, skip the sick days", {"sick_days"}),
        ("Who leaves? Leave the gender and the site out, please", {"gender", "site"}),
        ("Predict left. The sick days are not known yet.", {"sick_days"}),
        ("Predict left. Gender and site aren't predictors", {"gender", "site"}),
        ("Predict left, not with the site", {"site"}),
        ("Predict left, sick days left out", {"sick_days"}),
        ("Predict left without the gender", {"gender"}),
        ("Who has no sick days?", set()),
        ("Predict left, no nonsense", set()),
    ],
)
def test_columns_are_excluded(goal: str, excluded: set[str]) -> None:
    names, _ = excluded_columns(parse_goal(goal), STAFF, "left")
    assert set(names) == excluded


def test_only_an_exclusion_by_its_verb_reports_an_unknown_name() -> None:
    assert excluded_columns(parse_goal("Predict left, no nonsense"), STAFF, "left")[1] == []
    assert excluded_columns(parse_goal("Predict left without the moon"), STAFF, "left")[1] == ["moon"]


def test_to_drop_out_leaves_out_no_column() -> None:
    assert parse_goal("who will drop out").excluded_phrases == ()
    assert parse_goal("predict fat, drop the protein").excluded_phrases == ("protein",)
