"""A column that stands where a goal says its target outright is meant, whatever else the goal names."""

import pytest

from app.agents.goals.columns.outright_names import is_explained, is_predicted_state
from app.agents.goals.parser import parse_goal


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Predict stay, the number of nights, for guests who are new.", "stay"),
        ("predict the length_of_stay (in nights)", "length_of_stay"),
        ("Estimate the length of stay: how many nights", "length_of_stay"),
        ("Predict yld", "yld"),
    ],
)
def test_a_name_right_after_the_verb_that_is_explained(goal: str, name: str) -> None:
    assert is_explained(parse_goal(goal).after_verb, name)


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Predict price, size and colour", "price"),
        ("Predict the price of a stay, the longer the better", "stay"),
        ("Predict prices, the higher ones", "price"),
        ("Predict the price per night", "price"),
    ],
)
def test_a_name_among_others_or_within_a_phrase_is_not(goal: str, name: str) -> None:
    assert not is_explained(parse_goal(goal).after_verb, name)


@pytest.mark.parametrize(
    ("goal", "name", "expected"),
    [
        ("Which of next week's parcels will be late?", "late", True),
        ("who might turn out to be insolvent", "insolvent", True),
        ("which loans could become overdue in spring", "overdue", True),
        ("will the late trains be full?", "late", False),
        ("the order will be late or early", "early", False),
        ("which parcels will be sent late", "late", False),
    ],
)
def test_a_state_that_something_will_be(goal: str, name: str, expected: bool) -> None:
    assert is_predicted_state(goal, name) == expected
