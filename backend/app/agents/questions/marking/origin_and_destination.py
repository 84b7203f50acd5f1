"""Ends of a way: columns that say where something comes from and where it goes to."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.items import QuestionItem

_ORIGINS = word_set("from origin orig start departure source sender pickup home seller")
_DESTINATIONS = word_set("to destination dest end arrival target receiver recipient dropoff away buyer")
_LEAVING = word_set(
    "from leaving left leave leaves departing departed depart departs started start starts began"
)
_REACHING = word_set(
    "to went go goes going towards into ended end ends arriving arrived arrive arrives reached finish finished"
)
_GOING = word_set("left leaves leave departed departs reached reaches reach")
"""Verbs of going that stand right before a place."""


def is_other_end(name: str, word: str) -> bool:
    """Tell if a word names the end of a way that a column is not: `from` of `to_station`."""
    parts = frozenset(words(name))
    if word in _LEAVING:
        return bool(parts & _DESTINATIONS) and not parts & _ORIGINS
    return word in _REACHING and bool(parts & _ORIGINS) and not parts & _DESTINATIONS


def is_own_end(name: str, word: str) -> bool:
    """Tell if a word names the end of a way that a column is: `went` of `to_station`."""
    parts = frozenset(words(name))
    return bool((word in _LEAVING and parts & _ORIGINS) or (word in _REACHING and parts & _DESTINATIONS))


def at_own_end(items: Sequence[QuestionItem], place: int) -> QuestionItem:
    """An item without the values of the other end of a way than its preposition says: `to Roma` of `origin`."""
    item, before = items[place], items[place - 1].text if place else ""
    values = tuple(match for match in item.values if not is_other_end(match.column.name, before))
    return replace(item, values=values) if values and len(values) < len(item.values) else item


def as_going(items: Sequence[QuestionItem], place: int) -> QuestionItem:
    """A verb of going before the end of a way as its preposition: `left Boston` is `from Boston`, and means no
    column that it resembles, such as `cancelled`."""
    item, following = items[place], items[place + 1] if place + 1 < len(items) else None
    if following is None or item.text not in _GOING:
        return item
    if not any(is_own_end(value.column.name, item.text) for value in following.values):
        return item
    preposition = "from" if item.text in _LEAVING else "to"
    return QuestionItem("word", preposition)
