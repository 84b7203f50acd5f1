"""A column of the last result, by its name or by its place: `the second column`, `column 3`."""

import re
from collections.abc import Sequence

from app.agents.assistant.follow_ups.changed_plan import UnclearChange
from app.agents.questions.matching.column_mentions import find_column

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PLACE = re.compile(
    rf"(?:the )?(?:(?P<ordinal>{'|'.join(_ORDINALS)}|last)|(?P<digits>\d{{1,2}})(?:st|nd|rd|th)) column"
    r"|(?:the )?column (?:number |no\.? ?)?(?P<number>\d{1,2})",
    re.IGNORECASE,
)


def find_shown_column(words: str, columns: Sequence[str]) -> str | None:
    """Find the column that words name; None where they name none. Raises UnclearChange beyond the last one."""
    match = _PLACE.fullmatch(words.strip())
    if match is None:
        return find_column(words, columns)
    place = find_place(match["ordinal"] or match["digits"] or match["number"])
    if place is None or place >= len(columns):
        column_list = ", ".join(f"`{column}`" for column in columns)
        raise UnclearChange(f"The last result has {len(columns)} columns: {column_list}.")
    return columns[place]


def names_place(words: str) -> bool:
    """Test for a column that is named by its place."""
    return _PLACE.fullmatch(words.strip()) is not None


def find_place(ordinal: str) -> int | None:
    """Return the place that an ordinal names, from 0; -1 for the last one."""
    word = ordinal.casefold()
    if word == "last":
        return -1
    if word in _ORDINALS:
        return _ORDINALS.index(word)
    digits = re.match(r"\d+", word)
    return int(digits[0]) - 1 if digits and int(digits[0]) else None
