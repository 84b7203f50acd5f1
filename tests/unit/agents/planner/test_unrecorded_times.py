"""Questions about times after the last stored row, which only a forecast can answer."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.planner.unrecorded_times import asks_after_last_row
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question

COLUMNS = (
    Column("landed", "datetime", "datetime", distinct=300, low="2019-01-02", high="2022-12-31"),
    Column("weight_kg", "number", "numeric", distinct=300, low=1.0, high=400.0),
)
TABLES = [TableProfile("landings", 350, COLUMNS)]


@pytest.mark.parametrize(
    ("question", "is_later"),
    [
        ("total weight_kg in 2022", False),
        ("total weight_kg since 2022", False),
        ("total weight_kg in 2023", True),
        ("total weight_kg per month in the first half of 2023", True),
    ],
)
def test_only_times_that_no_row_has_are_later(question: str, is_later: bool) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion)
    assert asks_after_last_row(parsed, TABLES) is is_later
