"""Columns that a goal leaves out in other words than their names: "without looking at the asking price"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.columns.ranking import MIN_MEANT_PROBABILITY, likeliest_column
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.topics import find_topic_columns
from app.agents.goals.words.name_parts import names_part, parts_of_name
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import FUNCTION_WORDS, word_set

_LEAD = re.compile(
    r"^(?:of course |also |ever |even )?"
    r"(?:looking at|knowing|using|taking|seeing|considering|touching|the use of)\s+(?:the |its |their |any )?",
    re.IGNORECASE,
)
_EMPTY = FUNCTION_WORDS | word_set(
    "number count amount of no or nor it them this his her their own s please also rows"
)
"""Words of an exclusion that need not stand in a column's name."""
MAX_MEANT_COLUMNS = 3
"""Columns that one phrase leaves out: a word that more names share says too little."""


class MeantExclusion(NamedTuple):
    """The columns that an excluding phrase means."""

    phrase: str
    columns: tuple[str, ...]


def find_meant_exclusions(
    goal: Goal, phrases: Sequence[str], table: TableProfile, target: str
) -> Iterator[MeantExclusion]:
    """Yield the columns that excluding phrases mean of which none is the name of a column.

    `phrases`: those that exclude by their verb. Of those that exclude by their place ("not the turnout") a
    column is meant only by words of its name: they may say something else.
    """
    candidates = [column for column in table.columns if column.name != target]
    for phrase in phrases:
        columns = _meant_by_parts(phrase, candidates) or _meant_by_topic(phrase, candidates)
        if columns := columns or _meant_as_target(phrase, table, candidates):
            yield MeantExclusion(phrase, columns)
    for phrase in goal.avoided_phrases:
        if not match_columns(phrase, table.columns) and (columns := _meant_by_parts(phrase, candidates)):
            yield MeantExclusion(phrase, columns)


def _content(phrase: str) -> list[str]:
    return [word for word in words(_LEAD.sub("", phrase)) if word not in _EMPTY]


def _meant_by_parts(phrase: str, candidates: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns whose names have all words of a phrase, in any form."""
    content = _content(phrase)
    if not content:
        return ()
    columns = [
        column.name
        for column in candidates
        if (parts := parts_of_name(column.name))
        and all(any(names_part(word, part) for part in parts) for word in content)
    ]
    return tuple(columns) if len(columns) <= MAX_MEANT_COLUMNS else ()


def _meant_by_topic(phrase: str, candidates: Sequence[Column]) -> tuple[str, ...]:
    return tuple(find_topic_columns(map(stem, _content(phrase)), candidates))


def _meant_as_target(phrase: str, table: TableProfile, candidates: Sequence[Column]) -> tuple[str, ...]:
    """Return the column that a goal for nothing but the phrase would probably mean."""
    content = " ".join(_content(phrase))
    if not content:
        return ()
    likeliest = likeliest_column(parse_goal(f"Predict the {content}"), table, candidates, MIN_MEANT_PROBABILITY)
    return (likeliest.name,) if likeliest else ()
