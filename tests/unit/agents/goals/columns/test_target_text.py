"""The part of a goal that may name its target: without inputs and without the rows that it is about."""

import pytest

from app.agents.goals.parser import parse_goal


@pytest.mark.parametrize(
    ("goal", "word"),
    [
        ("what the customer pays, casual riders only", "casual"),
        ("price of a flat, only in the north", "north"),
        ("predict frost; use nothing but pressure and humidity", "pressure"),
    ],
)
def test_rows_and_inputs_name_no_target(goal: str, word: str) -> None:
    assert word not in parse_goal(goal).target_text


def test_a_goal_that_is_a_restriction_names_its_target_by_it() -> None:
    assert "casual" in parse_goal("only for casual riders").target_text
