"""The lexicon of what people ask for, and the columns that store it."""

import pytest

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.lexicon import asked_concepts, load_concept_lines, stored_concepts
from app.agents.goals.stemming import stems


def share_concept(goal: str, column: str) -> bool:
    asked = asked_concepts(goal, goal_words(goal))
    return not asked.keys().isdisjoint(stored_concepts(tuple(stems(column))))


@pytest.mark.parametrize(
    ("goal", "column"),
    [
        ("who will walk out on us", "churn"),
        ("how crowded will it be", "attendance"),
        ("will they pay back", "default"),
        ("how hot will it be", "tmax"),
        ("which machines break down", "failure"),
        ("how satisfied are they", "csat"),
        ("predict satisfacton", "satisfaction"),
    ],
)
def test_a_column_stores_what_is_asked_for(goal: str, column: str) -> None:
    assert share_concept(goal, column)


@pytest.mark.parametrize(("goal", "column"), [("who will walk out on us", "tmax"), ("how hot is it", "churn")])
def test_other_columns_do_not(goal: str, column: str) -> None:
    assert not share_concept(goal, column)


def test_a_phrase_is_stronger_than_its_words_and_keeps_its_part() -> None:
    text = "which guests will not turn up"
    matches = asked_concepts(text, goal_words(text)).values()
    strongest = max(matches, key=lambda match: match.strength * match.part.value)
    assert strongest.part is Part.HEAD


def test_each_line_names_columns_and_ways_to_ask() -> None:
    lines = load_concept_lines()
    assert len(lines) > 1_000
    for line in lines:
        assert line.names, line.ways
        assert line.ways, line.names
        assert all(text.isascii() and text == text.strip().lower() for text in (*line.names, *line.ways))
