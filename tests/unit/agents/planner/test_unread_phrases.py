"""Phrases of a goal that would select rows, by words that no table has."""

import pytest

from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.planner.unread_phrases import find_unread_phrases

KWH = Column("kwh", "number", "numeric", 900, low=0.0, high=9.0)
METERS = TableProfile(
    "meters",
    1_000,
    (
        KWH,
        Column("read_at", "datetime", "datetime", 1_000, low="2025-01-01", high="2025-02-11"),
        Column("tariff", "text", "category", 2, top=("night", "flat"), values=("night", "flat")),
        Column("occupied", "boolean", "boolean", 2),
    ),
)


@pytest.mark.parametrize(
    ("goal", "phrases"),
    [
        ("predict kwh for families with kids", ["with kids"]),
        ("predict kwh on rainy days, please", ["on rainy days"]),
        ("predict kwh for the night tariff", []),
        ("predict kwh when occupied", []),
        ("predict kwh for the next three days", []),
        ("predict kwh for our monthly report", []),
        # Whatever the unknown words are about, they may be what is asked for.
        ("what will be burnt on rainy days", []),
    ],
)
def test_phrases_without_a_known_word_are_found(goal: str, phrases: list[str]) -> None:
    unread = find_unread_phrases(parse_goal(goal), [METERS], KWH)
    assert unread == phrases
