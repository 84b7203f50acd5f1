"""Misspelt verbs of prediction: `predcit`."""

from rapidfuzz import fuzz, process

from app.agents.goals.words.clause_vocabulary import STRONG, STRONG_LIST

MIN_MISSPELT = 6
"""Letters from which a word may be a misspelt verb of prediction: shorter words have too many neighbours."""


MIN_SPELLING_RATIO = 85.0
"""Similarity in percent of a misspelt verb: one letter of seven."""


def mend_verb(word: str) -> str:
    """Return the verb of prediction that a word misspells, or the word."""
    if len(word) < MIN_MISSPELT or word in STRONG:
        return word
    nearest = process.extractOne(word, STRONG_LIST, scorer=fuzz.ratio, score_cutoff=MIN_SPELLING_RATIO)
    return nearest[0] if nearest else word
