"""Orders of an answer in words: which column they mean, and which way."""

import pytest

from app.plans.editing import split_plan
from app.plans.plan import SortStep

from .test_requests import follow


def order(question: str, *messages: str) -> tuple[str, bool]:
    """The column that an answer is ordered by after follow-ups, and if its greatest value comes first."""
    step = split_plan(follow(question, *messages).plan).find(SortStep)
    assert step is not None
    return step.keys[0].column, step.keys[0].descending


@pytest.mark.parametrize(
    ("message", "descending"),
    [
        ("sort it descending", True),
        ("sort the table ascending", False),
        ("in descending order please", True),
        ("could you order this from small to large?", False),
        ("sort it", True),
        ("sort this by value", True),
        ("sort this list descending by revenue", True),
        ("in ascending order of revenue", False),
    ],
)
def test_names_are_ordered_by_their_figure(message: str, descending: bool) -> None:
    assert order("total revenue by region", message) == ("total revenue", descending)


def test_an_order_that_was_asked_for_is_turned_round() -> None:
    assert order("total revenue by region", "sort by region", "descending") == ("region", True)
    assert order("total revenue by region", "sort by revenue", "now ascending") == ("total revenue", False)
    assert order("total revenue by region", "sort it alphabetically") == ("region", False)


def test_dates_are_turned_round_and_an_order_that_stands_is_not_meant() -> None:
    assert order("total revenue by month", "sort it descending") == ("month", True)
    assert order("total revenue by month", "the latest month first") == ("month", True)
    assert order("total revenue by month", "sort ascending") == ("total revenue", False)
