"""Goals whose verb of prediction stands last."""

import pytest

from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.trailing_requests import put_verb_first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("late payments of renters - predict", "predict late payments of renters"),
        ("broken goods by sea: predict", "predict broken goods by sea"),
        ("songs of five minutes and guess which", "predict whether songs of five minutes"),
        ("visitors next week - forecast them please", "forecast visitors next week"),
    ],
)
def test_the_verb_is_put_first(text: str, expected: str) -> None:
    assert put_verb_first(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "will it rain tomorrow or not",
        "who leaves us - predict",
        "predict churn and model it",
        "orders per week",
        "mean price by make and model",
        "list make, year, model",
        "predict sold - forecast",
        "sold - forecast",
        "which columns does the model use",
    ],
)
def test_other_goals_stay_as_they_are(text: str) -> None:
    assert put_verb_first(text) == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("estimate the load given the heat and whether it is a holiday", "regression"),
        ("using the table, predict whether they leave", "classification"),
    ],
)
def test_what_is_known_tells_no_kind(text: str, kind: str | None) -> None:
    assert parse_goal(text).kind == kind
