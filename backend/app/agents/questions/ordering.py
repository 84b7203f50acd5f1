"""Order and number of the rows of an answer, as far as the question names them."""

from typing import NamedTuple

from app.agents.goals.tables.profiles import Column
from app.agents.questions.grammar_words import LOW
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import QuestionReading

MAX_ASKED_ROWS = 1_000
"""Rows of a ranking that a question may ask for."""


class Order(NamedTuple):
    """`descending`: None where no order is asked for. `limit`: None for all rows."""

    descending: bool | None = None
    limit: int | None = None


_HIGH_FIRST = "most|highest|largest|biggest|best|worst|longest|busiest|heaviest"
_LOW_FIRST = "least|lowest|smallest|fewest|shortest|cheapest"


def take_order(reading: QuestionReading) -> Order:
    """Take words of order: `most first`, `top 5`, `descending`, `ranked`."""
    text = reading.text
    if match := text.take("top N=count", "order"):
        return Order(True, as_count(text.item(match, "count")))
    if match := text.take("bottom N=count", "order"):
        return Order(False, as_count(text.item(match, "count")))
    if text.take_any(
        (
            f"{_HIGH_FIRST} first",
            "descending|desc",
            ("high|highest|largest|most to low|lowest|smallest|least"),
        ),
        "order",
    ):
        return Order(True)
    if text.take_any(
        (
            f"{_LOW_FIRST} first",
            "ascending|asc",
            ("low|lowest|smallest|poor|poorest|least to high|highest|largest|rich|most"),
        ),
        "order",
    ):
        return Order(False)
    # A ranking without a direction begins with the most.
    if text.take_any(("ranked|rank|ranking|sorted|sort|ordered|pareto",), "order"):
        return Order(True)
    return Order()


def as_count(item: QuestionItem | None) -> int | None:
    if item is None or item.number is None or not 1 <= item.number <= MAX_ASKED_ROWS:
        return None
    return int(item.number)


_SPEEDS = frozenset({"speed", "velocity", "mph", "kmh", "kph"})


def is_descending(word: str, column: Column | None = None) -> bool:
    """Tell if the most of a column comes first: the fastest have the highest speed, and the lowest time."""
    if word in ("fastest", "quickest", "slowest"):
        has_speed = column is not None and bool(_SPEEDS & set(name_parts(column.name)))
        return has_speed == (word != "slowest")
    return word not in LOW
