"""Misspelt words of the grammar of questions: `avrage`, `meidan`, `febuary`."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.vocabulary import MONTHS, WEEKDAYS, word_set
from app.agents.questions.grammar_words import AGGREGATE_WORDS, KNOWN_WORDS, OPERATORS, SUPERLATIVES
from app.agents.questions.rewording.spellings import stored_words

MIN_LETTERS, MIN_LONG_LETTERS = 6, 10
"""Letters of a word that is mended by one letter, and by two: shorter ones have neighbours that are words."""
_TARGETS = sorted(
    word
    for word in {*AGGREGATE_WORDS, *SUPERLATIVES, *MONTHS, *WEEKDAYS}
    | word_set(
        """
        number percentage percent proportion fraction between without compare compared comparison difference
        distribution correlation quarter percentile cumulative distinct different monthly weekly yearly
        """
    )
    if len(word) >= MIN_LETTERS and " " not in word
)
_CONTRACTIONS = {
    **{f"{word}s": f"{word} is" for word in ("what", "who", "where", "how", "when")},
    **{
        f"{verb}nt": f"{verb} not"
        for verb in ("did", "do", "does", "was", "were", "has", "have", "had", "is", "are")
    },
}
"""Contractions without their apostrophe."""
_CONTRACTION = re.compile(rf"\b(?:{'|'.join(_CONTRACTIONS)})\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]{5,20}")
_ENDINGS = ("s", "ed", "er", "ing", "ly", "al")
"""Endings that make another word rather than a misspelling: `lowers` of `lowest`."""


def mend_grammar(text: str, tables: Sequence[TableProfile] = ()) -> str:
    """Spell words of the grammar right, contractions in full, but for words that the tables spell so."""
    stored = {word for table in tables for word in stored_words(table)}
    text = _CONTRACTION.sub(lambda match: _CONTRACTIONS[match[0].lower()], text)
    return _WORD.sub(lambda match: _mended(match[0], stored), text)


def _mended(word: str, stored: Collection[str]) -> str:
    lower = word.lower()
    return word if lower in stored else _nearest(lower) or word


@lru_cache(maxsize=10_000)
def _nearest(word: str) -> str | None:
    """The word of the grammar that a word misspells, if it is none itself."""
    if word in KNOWN_WORDS | OPERATORS | {*AGGREGATE_WORDS}:
        return None
    nearest = process.extractOne(
        word,
        _TARGETS,
        scorer=DamerauLevenshtein.distance,
        score_cutoff=2 if len(word) >= MIN_LONG_LETTERS else 1,
    )
    if nearest is None or nearest[0][0] != word[0]:
        return None
    is_inflected = any(word.endswith(ending) and not nearest[0].endswith(ending) for ending in _ENDINGS)
    return None if is_inflected else nearest[0]
