"""Answers to the question of what to predict."""

import pytest

from app.agents.goals.goal import Threshold
from app.agents.planner.target_answers import TargetAnswer, parse_target_answer


@pytest.mark.parametrize(
    ("answer", "parsed"),
    [
        ("arr_delay > 15", TargetAnswer("arr_delay", Threshold(True, 15.0))),
        (" `loan amount` below 1,500.5 ", TargetAnswer("loan amount", Threshold(False, 1500.5))),
        ("t<=-3", TargetAnswer("t", Threshold(False, -3.0))),
        ("arr_delay", TargetAnswer()),
        ("> 15", TargetAnswer()),
        ("the delay, please", TargetAnswer()),
    ],
)
def test_a_comparison_has_a_column_and_a_threshold(answer: str, parsed: TargetAnswer) -> None:
    assert parse_target_answer(answer) == parsed
