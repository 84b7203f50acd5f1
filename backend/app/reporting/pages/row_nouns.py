"""The word for the rows of a table, where the goal has one: customers, houses, passengers."""

import re
from collections.abc import Sequence

from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import items_at

_ASKING_WORDS = frozenset(("which", "what", "whose"))
_FILLERS = frozenset(("of", "the", "our", "my", "new", "old", "current", "more", "other"))
"""Words between `which` and the noun that it asks for; numbers are skipped too."""
_NO_ROWS = frozenset(
    ("sales", "news", "series", "prices", "returns", "classes", "values", "days", "weeks", "months", "years")
)
"""Plural words that name a figure or a period instead of rows."""


def row_noun(draft: ReportDraft) -> Text:
    """Return the plural word of the goal for the rows, or `rows`; those of a forecast are periods."""
    if draft.facts.forecast is not None:
        return ("forecasts",)
    if noun := draft.facts.split.text("row_noun") if draft.facts.split else "":
        return (Name(noun, code=False),)
    goal_words = re.findall(r"[A-Za-z]+|\d+", draft.facts.session.text("goal"))
    if items_at(draft.facts.split, "construction"):
        # Rows that were made of others are none of the tables of the goal's words.
        noun = _noun_asked_for(goal_words)
        return (Name(noun, code=False),) if noun else ("rows",)
    lower_words = {word.casefold() for word in goal_words}
    for dataset in items_at(draft.facts.session, "datasets"):
        # A table's name only if the goal says it: file names such as `data_2024_final` are no words.
        table = dataset.text("table") or dataset.text("name")
        if _is_plural(table) and {table.casefold(), table.casefold().removesuffix("s")} & lower_words:
            return (Name(table, code=False),)
    target = str(draft.target.value).casefold() if draft.target else ""
    noun = _noun_asked_for(goal_words)
    # A noun within the target's name asks for values of the target, and is no word for rows.
    return (Name(noun, code=False),) if noun and noun.casefold() not in target else ("rows",)


def _noun_asked_for(words: Sequence[str]) -> str:
    """Return the plural noun after `which`, as in `which of the passengers`; empty without one."""
    for place, word in enumerate(words):
        if word.casefold() in _ASKING_WORDS:
            noun = next((word for word in words[place + 1 :] if not _is_filler(word)), "")
            if _is_plural(noun):
                return noun
    return ""


def _is_filler(word: str) -> bool:
    return word.isdecimal() or word.casefold() in _FILLERS


def _is_plural(word: str) -> bool:
    return (
        word.isalpha() and word.casefold().endswith("s") and len(word) > 3 and word.casefold() not in _NO_ROWS
    )
