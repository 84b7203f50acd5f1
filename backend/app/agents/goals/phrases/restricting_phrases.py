"""Phrases of a goal that may select rows: "for the smokers", "in the north", "of guests who pay cash"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.agents.goals.words.clause_vocabulary import AUXILIARIES, RELATIVE
from app.agents.goals.words.vocabulary import word_set

_OPENING = re.compile(
    r"\b(?:for|on|when|with|without|during|among|while|where|in|of|from|at|who|that|which|whose)\b",
    re.IGNORECASE,
)
TIMES = word_set("when while where during")
"""Words that open a clause or phrase about a time or place, which may be that of the prediction."""
CLAUSES = RELATIVE | TIMES - {"during"}
"""Words that open a clause, whose verb and prepositions belong to it."""
MAX_WORDS = 6
"""Words of a phrase behind its opening: more are a sentence of their own."""
_MIN_CLAUSE_WORDS = 3
"""Words of a clause before which a preposition does not end it: "came in by phone"."""
_ENDS = word_set(
    """
    by and or but so that which who whose where when while if using based given because than as per each
    every before after until since about into through under over between above below i we you he she it they
    """
)
"""Words before which a phrase ends."""
_PREPOSITIONS = word_set("for on with without during among in at from to of by")


_MAX_WORD_LETTERS = 40
"""Letters of the word before a phrase."""


class RestrictingPhrase(NamedTuple):
    """A phrase as it is written, its opening in small letters, and the words behind it.

    `before`: the word that it follows, empty at a beginning and behind a comma.
    """

    text: str
    opening: str
    inner: tuple[str, ...]
    before: str = ""


def find_restricting_phrases(text: str) -> Iterator[RestrictingPhrase]:
    """Yield the phrases of a text behind a preposition or a conjunction, in their order."""
    for opening in _OPENING.finditer(text):
        folded = opening[0].casefold()
        inner: list[str] = []
        for word in text[opening.end() :].split(maxsplit=MAX_WORDS)[:MAX_WORDS]:
            bare = word.strip(",.;:!?()\"'")
            if not bare or (inner and word[0] == "(") or _ends(folded, bare.casefold(), len(inner)):
                break
            inner.append(bare)
            if word[-1] in ",.;:!?)":
                break
        before = text[max(0, opening.start() - _MAX_WORD_LETTERS) : opening.start()].split()[-1:]
        is_joined = bool(before) and (before[0][-1].isalnum() or before[0][-1] == "'")
        phrase = RestrictingPhrase(
            " ".join([opening[0], *inner]), folded, tuple(inner), before[0].casefold() if is_joined else ""
        )
        if inner and not _begins_anew(phrase):
            yield phrase


def _begins_anew(phrase: RestrictingPhrase) -> bool:
    """Test if a clause is a question of its own, or is about a whole sentence: ", that would be circular"."""
    if phrase.opening in RELATIVE:
        return not phrase.before
    return phrase.opening in ("when", "where") and phrase.inner[0].casefold() in AUXILIARIES


def _ends(opening: str, word: str, count: int) -> bool:
    """Test if a phrase with so many words ends before this one."""
    if opening in CLAUSES:
        is_inside = count < _MIN_CLAUSE_WORDS
        return word in (_ENDS - _PREPOSITIONS if is_inside else _ENDS | _PREPOSITIONS)
    return word in _ENDS or word in _PREPOSITIONS or word in AUXILIARIES
