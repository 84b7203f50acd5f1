"""Numbers of questions in the units of columns."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.conditions.stored_numbers import stored_number
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question


def number(name: str, low: float, high: float) -> Column:
    return Column(name, "number", "numeric", 90, low=low, high=high)


@pytest.mark.parametrize(
    ("value", "unit", "column", "stored"),
    [
        (2, "minutes", number("queueSec", 0, 300), 120),
        (500, "m", number("height_m", 3, 35), 500),
        (500, "", number("height_m", 3, 35), 500),
        (13_000_000, "", number("jobless_k", 900, 15_000), 13_000),
        (2_000_000, "", number("budget_m", 0, 40), 2),
        (25, "%", number("load", 0, 1), 0.25),
        (0.5, "hour", number("duration_min", 1, 90), 30),
    ],
)
def test_numbers_take_the_unit_of_their_column(value: float, unit: str, column: Column, stored: float) -> None:
    assert stored_number(value, unit, column) == stored


CALLS = TableProfile(
    "calls",
    90,
    (
        Column("call", "integer", "id", 90, unique=True, low=1, high=90),
        Column("solved", "boolean", "category", 2, top=(True, False)),
        number("queueSec", 0, 300),
    ),
)


@pytest.mark.parametrize(
    "question", ["how many calls have a queueSec over 2 minutes?", "number of calls with queueSec > 2 minutes"]
)
def test_a_bound_is_compared_in_the_unit_of_its_column(question: str) -> None:
    parsed = parse_question(question, (CALLS,))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert '"value":120' in parsed.plan.model_dump_json()
