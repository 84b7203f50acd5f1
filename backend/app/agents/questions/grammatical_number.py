"""The grammatical number of nouns: a plural behind a superlative asks for several things, not for the first."""

from collections.abc import Collection

from app.agents.goals.words.tokenizer import words
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.value_matching import IRREGULAR_PLURALS

_NO_PLURALS = ("ss", "us", "is")
"""Ends of words that are no plurals: `less`, `status`, `diagnosis`."""


def is_plural(word: str) -> bool:
    """Tell if a noun is a plural by its form."""
    return word in IRREGULAR_PLURALS or (word.endswith("s") and not word.endswith(_NO_PLURALS))


def names_several(item: QuestionItem, names: Collection[str] = ()) -> bool:
    """Tell if a noun asks for several things. `names`: the columns that hold them.

    A plural that a column is called by is its name and no number: `most used shoes` of a column `shoes`.
    """
    return is_plural(item.word) and not any(item.word in words(name) for name in names)
