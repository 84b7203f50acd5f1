"""Phrases of a goal that restrict its rows by words of which the tables know nothing: "on rainy days"."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.clauses import GoalWord, Part, goal_words
from app.agents.goals.columns.evidence import Link, WordTable, find_evidence
from app.agents.goals.goal import Goal
from app.agents.goals.phrases.intents import GENERIC
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import (
    COUNT_WORDS,
    FUNCTION_WORDS,
    IDENTIFIER_WORDS,
    MONTHS,
    SECONDS_BY_UNIT,
    word_set,
)

_OPENING = re.compile(r"\b(?:for|on|when|with|without|during|among|while|where)\b", re.IGNORECASE)
MAX_WORDS = 4
"""Words of a phrase behind its preposition: more are a sentence of their own."""
_ENDS = word_set(
    """
    for on when with without during among while where in at from to of by and or but so that which who if using
    based given because than as is are was were be will would can could should do does did has have had
    """
)
"""Words before which a phrase ends."""
_IDLE = frozenset(
    map(
        stem,
        word_set(
            """
            me us our we you i they it each every all any one ones other others same such most more next last
            following coming past previous ahead future upcoming today tomorrow now time times period basis
            analysis report study team board boss meeting manager client business company project work purpose
            planning budget decision data table file dataset record records row rows entry entries case cases
            example sample item items thing things number numbers kind type sort way chance chances hand help
            accuracy confidence precision score metric fold folds validation test split seed minute seconds
            """
        ),
    )
)
"""Stems of words behind a preposition that select no rows: whom a goal is for, its data, its horizon."""
MAX_PHRASES = 3
"""Phrases that one plan lists."""


def find_unread_phrases(goal: Goal, tables: Sequence[TableProfile], target: Column) -> list[str]:
    """Find phrases none of whose words is known from the tables, at most `MAX_PHRASES`.

    Only of a goal that names its target by other words: an unknown phrase may otherwise be what it asks for
    ("where the customer wants his money back").
    """
    phrases = list(_phrases(goal.request_text))
    content = {word for phrase in phrases for word in _content(phrase, tables)}
    if not content or not _names_target(goal.request_text, phrases, target):
        return []
    meaningful = set(_known_words(content, tables))
    unread = [phrase for phrase in phrases if (own := _content(phrase, tables)) and not meaningful & {*own}]
    return list(dict.fromkeys(unread))[:MAX_PHRASES]


def _names_target(text: str, phrases: Sequence[str], target: Column) -> bool:
    """Test if the words outside the phrases name the target."""
    for phrase in phrases:
        text = text.replace(phrase, " ")
    if target.name.casefold() in text.casefold():
        return True
    evidence = find_evidence(WordTable(goal_words(text)), target, "")
    return any(match.link is Link.NAME for match in evidence.matches)


def _phrases(text: str) -> Iterator[str]:
    for opening in _OPENING.finditer(text):
        inner: list[str] = []
        for word in text[opening.end() :].split(maxsplit=MAX_WORDS)[:MAX_WORDS]:
            bare = word.rstrip(",.;:!?")
            if bare.casefold() in _ENDS:
                break
            inner.append(bare)
            if bare != word:
                break
        if inner:
            yield " ".join([opening[0], *inner])


def _content(phrase: str, tables: Sequence[TableProfile]) -> list[str]:
    """Return the words of a phrase that could select rows, without its preposition."""
    nouns = {part for table in tables for part in stems(table.name)}
    return [
        word
        for word in words(phrase)[1:]
        if len(word) > 2
        and not word.isdecimal()
        and word not in FUNCTION_WORDS | GENERIC | COUNT_WORDS.keys() | IDENTIFIER_WORDS | {*MONTHS}
        and stem(word) not in _IDLE | nouns | ENTITIES | {stem(unit) for unit in SECONDS_BY_UNIT}
    ]


def _known_words(content: set[str], tables: Sequence[TableProfile]) -> Iterator[str]:
    """Yield the words that mean a column or a value by more than a similar use."""
    table_of_words = WordTable(GoalWord(word, Part.HEAD) for word in sorted(content))
    for table in tables:
        for column in table.columns:
            for match in find_evidence(table_of_words, column, table.name).matches:
                if match.link is not Link.RELATED:
                    yield match.word.word
