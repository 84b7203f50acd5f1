"""The lexicon of what people ask for, and the columns that store it."""

import pytest

from app.agents.goals.clauses import Part, goal_words
from app.agents.goals.lexicon.concept_matches import (
    asked_concepts,
    lexicon_files,
    load_concept_lines,
    stored_concepts,
)
from app.agents.goals.lexicon.index import (
    INDEX_FILE,
    ConceptLine,
    LexiconIndex,
    read_index,
    source_digest,
    write_index,
)
from app.agents.goals.words.stemming import stems


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


def test_the_stored_index_is_that_of_the_files() -> None:
    text = f"{source_digest(lexicon_files())}\n{write_index(load_concept_lines())}"
    stored = INDEX_FILE.read_text(encoding="utf-8")
    assert stored == text, "run PYTHONPATH=backend python scripts/index_lexicon.py"


def test_an_index_of_other_files_is_not_read() -> None:
    assert read_index("0" * 64) is None


def test_an_index_returns_the_phrases_of_its_lines() -> None:
    lines = [
        ConceptLine(["churn", "left company"], ["walk out on us"], asks_by_name=True),
        ConceptLine(["abw"], ["walk out on us", "leave"], asks_by_name=False),
    ]
    index = LexiconIndex(write_index(lines))
    assert [entry for entry in index.request_phrases("walk") if entry.concepts == (0, 1)]
    assert index.name_phrases("abw") == [(("abw",), (1,))]
    assert not index.request_phrases("abw")
    assert not index.name_phrases("walk")
    assert {"walk", "churn", "compani"} <= index.request_stems
