"""A column that a phrase names and nothing else."""

from collections.abc import Sequence

from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.matching.column_matching import name_parts, word_strength

MIN_STRENGTH = 0.7
"""Strength of each word of a phrase: that of an equal concept (`column_matching.CONCEPT`)."""
_FILLING = word_set("the a an of its their column columns field values value variable each all my")


def find_column(phrase: str, names: Sequence[str]) -> str | None:
    """Find the column whose name a phrase is; None where a word names nothing, or two columns are as near."""
    plain = phrase.strip().strip("`'\"").casefold()
    for name in names:
        if name.casefold() == plain:
            return name
    phrase_words = [word for word in words(phrase) if word not in _FILLING]
    if not phrase_words:
        return None
    scores = {name: _score(phrase_words, name) for name in names}
    best = max(scores.values(), default=0.0)
    nearest = [name for name, score in scores.items() if score == best]
    return nearest[0] if best >= MIN_STRENGTH and len(set(nearest)) == 1 else None


def _score(phrase_words: Sequence[str], name: str) -> float:
    """Strength of the weakest word, less where the name has further words; 0 where one names nothing."""
    parts = name_parts(name)
    if not parts:
        return 0.0
    strengths = [max(_strength(word, part) for part in parts) for word in phrase_words]
    weakest = min(strengths)
    return weakest - 0.02 * max(len(parts) - len(phrase_words), 0) if weakest >= MIN_STRENGTH else 0.0


def _strength(word: str, part: str) -> float:
    return 1.0 if stem(word) == stem(part) else word_strength(word, part)
