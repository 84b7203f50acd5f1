"""Causes that a question states are inputs; its effect is the target."""

import pytest

from app.agents.goals.columns.target import find_target
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.stated_causes import split_causes
from app.agents.goals.tables.profiles import Column, TableProfile

BAKES = TableProfile(
    "bakes",
    3_000,
    (
        Column("bake_no", "integer", "id", 3_000, unique=True, low=1, high=3_000),
        Column("ovenheat", "integer", "numeric", 60, low=150, high=260),
        Column("proof_hrs", "number", "numeric", 40, low=1, high=20),
        Column("salt_g", "number", "numeric", 70, low=4, high=30),
        Column("burnt", "text", "category", 2, top=("y", "n")),
        Column("crumbscore", "integer", "numeric", 10, low=1, high=10),
    ),
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Does salt really hurt the crumb score?", "salt"),
        ("is it oven heat that burns the loaves", "oven heat"),
        ("Are long proofs to blame for a poor crumb?", "long proofs"),
        ("does the crumb score depend on salt", "salt"),
        ("How far is burning explained by heat", "heat"),
        ("do we burn more if the oven is hot", "the oven is hot"),
        ("what lowers the crumb score, salt or heat", "salt or heat"),
        ("What is behind the burnt loaves? Is it heat?", "heat"),
    ],
)
def test_the_cause_is_split_from_the_effect(text: str, cause: str) -> None:
    causal = split_causes(text)
    assert causal.causes == cause
    assert cause not in causal.effect


@pytest.mark.parametrize(
    "text",
    [
        "predict the crumb score",
        "does it cause trouble",
        "will the crust brown before we open",
        "Burnt loaves, 2.5 a day",
    ],
)
def test_a_goal_without_a_stated_cause_stays_as_it_is(text: str) -> None:
    assert split_causes(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("does oven heat affect the crumb score", "crumbscore"),
        ("is the salt to blame for burnt loaves", "burnt"),
        ("does the crumb score depend on oven heat", "crumbscore"),
    ],
)
def test_the_effect_is_the_target(text: str, target: str) -> None:
    goal = parse_goal(text)
    match = find_target(goal, [BAKES])
    assert goal.wants_drivers
    assert match.target is not None
    assert match.target.column.name == target


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Does salt help?", "salt"),
        ("do hotter ovens work", "hotter ovens"),
        ("is the longer proof worth it", "the longer proof"),
        ("does steam really make a difference", "steam"),
    ],
)
def test_a_cause_without_an_effect_leaves_the_target_open(text: str, cause: str) -> None:
    goal = parse_goal(text)
    assert goal.wants_drivers
    assert split_causes(text) == ("", cause)
    assert find_target(goal, [BAKES]).target is None


@pytest.mark.parametrize("text", ["does it work", "do bakers work on sundays"])
def test_who_works_is_no_cause(text: str) -> None:
    assert split_causes(text) == (text, "")
