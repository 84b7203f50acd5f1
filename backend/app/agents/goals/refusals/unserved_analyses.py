"""Analyses that are not done by themselves: groups of similar rows, unusual rows, and what would happen if."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.phrases.patterns import VERB
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words

_UNUSUAL = re.compile(
    r"\b(?:unusual(?:ly)?|strange(?:ly)?|weird(?:ly)?|odd(?:ly)?|odd (?:ones?|things?)|abnormal(?:ly|ities)?"
    r"|atypical|anomal(?:y|ies|ous)|outlier?s?|outlying|irregularit(?:y|ies)|out of the ordinary|oddit(?:y|ies)"
    r"|(?:under|over)[- ]?priced|too (?:cheap|expensive|dear|low|high|big|small|large|good|bad) to be"
    r"|(?:is|are|was|were|look|looks) (?:far |much |way )?too (?:cheap|expensive|dear))\b",
    re.IGNORECASE,
)
"""Words for rows that differ from the others."""
_SIMILAR = re.compile(
    r"\b(?:cluster\w{0,5}|segment\w{0,7}|group(?:s|ing)?|typolog(?:y|ies)|similar|alike|resembl\w{1,5}|kinds?|types?"
    r"|sorts?|profiles?|personas?|archetypes?|families)\b",
    re.IGNORECASE,
)
"""Words for groups of rows, in a goal that asks for an exploration."""
_SIMULATION = re.compile(
    r"^\W*(?:and |so |but )?(?:what (?:if|happens (?:if|when)|would happen)|suppose|assuming|simulate)\b"
    r"|^\W*if (?:we|i|they|you|our|the)\b[^.;:!?]{2,120}\bwould\b"
    r"|^\W*(?:what|how(?: much| many)?) would\b[^.;:!?]{2,120}\bif (?:we|i|they|you|our|the)\b",
    re.IGNORECASE,
)


class UndoneAnalysis(NamedTuple):
    """An analysis that is not done: what it does, and what can be asked for instead."""

    what: str
    instead: str


UNUSUAL_ROWS = UndoneAnalysis(
    "look for unusual rows by itself",
    "Ask for the highest or the lowest values of a column, or predict the column that marks such rows, if there"
    " is one.",
)
SIMILAR_ROWS = UndoneAnalysis(
    "form groups of similar rows by itself",
    "Ask for figures by a column that holds groups, or name a column to learn what it goes with.",
)
SIMULATION = UndoneAnalysis(
    "compute what would happen under other circumstances: rows tell what goes together, not what a change would"
    " cause",
    'Ask what a column goes with ("what drives sales?"), or let a model of it predict rows with other values.',
)


def asks_for_simulation(text: str) -> bool:
    """Test if a goal asks what would happen if something were different from what the rows tell."""
    return bool(_SIMULATION.search(text))


def asks_for_unusual_rows(text: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a goal asks for rows that differ from the others, and no name or value of the tables says so."""
    match = _UNUSUAL.search(text)
    verb = VERB.search(text)
    if match is None or (verb and not verb[0].casefold().startswith("detect")):
        return False
    return not any(_holds(table, set(map(stem, words(match[0])))) for table in tables)


def asks_for_similar_rows(text: str) -> bool:
    """Test if a goal that explores the tables asks for groups of rows."""
    return bool(_SIMILAR.search(text))


def _holds(table: TableProfile, word_stems: set[str]) -> bool:
    texts = (str(text) for column in table.columns for text in (column.name, *_texts(column.top)))
    return any(word_stems & set(stems(text)) for text in texts)


def _texts(values: Sequence[object]) -> list[str]:
    return [value for value in values if isinstance(value, str)]
