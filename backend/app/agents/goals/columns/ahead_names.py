"""Columns whose values lie ahead of their row by their names: `score_next_term`, `died_within_5_years`."""

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

_AHEAD = word_set("next nxt tomorrow future within upcoming later")
"""Parts of names of what came after a row was written. Not `ahead` or `forward`: players are forwards."""


def lies_ahead(name: str) -> bool:
    """Test if a column's name says that its values come later than the row.

    A model of such a column looks ahead by predicting rows as they are: the words of its goal for a time to
    come are those of the name, and no horizon of their own.
    """
    return not _AHEAD.isdisjoint(words(name))
