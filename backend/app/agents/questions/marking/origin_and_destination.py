"""Ends of a way: columns that say where something comes from and where it goes to."""

from app.agents.goals.tokenizer import words
from app.agents.goals.vocabulary import word_set

_ORIGINS = word_set("from origin orig start departure source sender pickup home seller")
_DESTINATIONS = word_set("to destination dest end arrival target receiver recipient dropoff away buyer")
_LEAVING = word_set(
    "from leaving left leave leaves departing departed depart departs started start starts began"
)
_REACHING = word_set(
    "to went go goes going towards into ended end ends arriving arrived arrive arrives reached finish finished"
)


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
