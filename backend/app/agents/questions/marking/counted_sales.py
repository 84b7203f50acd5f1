"""Nouns of money that are counted and so name rows: `how many sales`, `the last 10 payments`."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem

_EVENTS = word_set("sales payments expenses purchases donations deposits")
"""Nouns for events that bring in or cost money, and for the money itself."""
_COUNTING = (frozenset({"how", "many"}), frozenset({"number", "of"}), frozenset({"count", "of"}))
"""Words that stand together before what is counted."""
_PLACES = frozenset({"first", "last", "latest", "recent", "earliest"})
MAX_DISTANCE = 3
"""Items between a noun and the words that count it: `how many card sales`."""


def count_sales(items: Sequence[QuestionItem], tables_of: Sequence[tuple[str, ...]]) -> list[QuestionItem]:
    """Take nouns of money that are counted for the rows of the tables that they name.

    `tables_of`: for each item the tables whose own noun it is.
    """
    return [_as_rows(items, place, tables) for place, tables in enumerate(tables_of)]


def _as_rows(items: Sequence[QuestionItem], place: int, tables: tuple[str, ...]) -> QuestionItem:
    item = items[place]
    if item.word not in _EVENTS or not tables or not _is_counted(items, place):
        return item
    return replace(item, columns=(), row_tables=tables)


def _is_counted(items: Sequence[QuestionItem], place: int) -> bool:
    before = items[max(place - MAX_DISTANCE, 0) : place]
    texts = {text for item in before for text in item.text.split()}
    if any(words <= texts for words in _COUNTING):
        return True
    return bool(before) and (before[-1].kind == "number" or before[-1].text in _PLACES)
