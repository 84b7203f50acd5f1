"""Phrases that name an outcome behind the rows that may have it: "customers at risk of leaving"."""

from collections.abc import Sequence

from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.words.clause_vocabulary import (
    ARTICLES,
    AUXILIARIES,
    BOUNDARIES,
    CHANCES,
    COUNTS,
    DEGREES,
    EMPTY,
    VERBS,
)
from app.agents.goals.words.stemming import stem

_BEFORE_CHANCES = frozenset({"at", "with", "by", "for", "on"})
_BEFORE_OUTCOMES = frozenset({"for", "by", "on"})


def has_content(word: str) -> bool:
    """Test if a word may name a column, a value or the rows."""
    return not (
        word in EMPTY or word in VERBS or word in AUXILIARIES or word in COUNTS or word == "," or word.isdigit()
    )


def find_outcome(words: Sequence[str]) -> int | None:
    """Return the place behind "at risk of" or "with the highest chance of"; None without rows before it."""
    for place, word in enumerate(words[:-1]):
        if word not in CHANCES or words[place + 1] not in ("of", "that", "for"):
            continue
        before = place - 1
        while before > 0 and words[before] in ARTICLES | DEGREES:
            before -= 1
        is_phrase = before > 0 and words[before] in _BEFORE_CHANCES
        if words[place + 1] != "that" and _has_predicate(words[place + 2 :]):
            continue
        if is_phrase and any(map(has_content, words[:before])) and any(map(has_content, words[place + 2 :])):
            return place + 2
    return None


def _has_predicate(words: Sequence[str]) -> bool:
    """Test if a verb follows a noun: "customers at risk of leaving are on which plan"."""
    verb = next((place for place, word in enumerate(words) if word in AUXILIARIES and place), None)
    return verb is not None and any(map(has_content, words[:verb]))


def scores(sentence: Sequence[str]) -> bool:
    """Test if a sentence asks for a score of rows: "score every customer for churn"."""
    return sentence[0] == "score" and _find_scored(sentence[1:]) is not None


def put_outcome_first(verb: str, words: list[str]) -> list[str]:
    """Put what rows are scored for before them: "score every customer for churn" asks for their churn."""
    place = _find_scored(words) if verb == "score" else None
    if place is None:
        return words
    end = next((i for i in range(place + 1, len(words)) if words[i] in BOUNDARIES - {"of"}), len(words))
    return [*words[place + 1 : end], "for", *words[:place], *words[end:]]


def _find_scored(words: Sequence[str]) -> int | None:
    """Return the place of the preposition between rows and what they are scored for."""
    place = next((i for i, word in enumerate(words) if word in _BEFORE_OUTCOMES), None)
    if not place or place + 1 == len(words):
        return None
    outcome = next((word for word in words[place + 1 :] if has_content(word)), None)
    # "Score the risk of default for each applicant" says the rows there.
    is_of_rows = (
        words[place + 1] in ("each", "every", "all", "new") or outcome is None or stem(outcome) in ENTITIES
    )
    return None if is_of_rows else place
