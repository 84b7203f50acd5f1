"""Bounds of an age that a goal sets without naming the column: "women over 40", "aged 65 and older"."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.conditions.row_conditions import Operator, RowCondition
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.number_words import ABOVE_ONE

_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(ABOVE_ONE)})"
_AFTER_AGES = (
    "years?|and|or|but|in|who|that|with|without|at|on|of|for|from|by|to|per|each|every|next|last|during|when|if"
    "|will|would|can|could|is|are|was|were|be|have|has|had|do|does|did|[a-z]{2,20}ed"
)
"""Words behind a bare number that is an age: any other noun is its unit."""
_NO_UNIT = rf"(?! ?[%€$£]|[.,]?\d| (?!(?:{_AFTER_AGES})\b)[a-z])"
_BOUND = re.compile(
    r"\b(?P<noun>[a-z]{3,20}),? \(?(?:who are |that are |aged |of age )?"
    r"(?P<side>over|above|past|under|below|older than|younger than) (?:the age of )?"
    rf"{_NUMBER}\b{_NO_UNIT}",
    re.IGNORECASE,
)
_TAIL = re.compile(
    rf"\b(?P<noun>aged|age|[a-z]{{3,20}}),? \(?{_NUMBER}(?: years?)?(?: old)? (?:and|or)"
    r" (?P<side>older|over|above|younger|under|below)\b",
    re.IGNORECASE,
)
_AGES = frozenset(stems("age aged alter edad eta"))
_PEOPLE = frozenset(
    stems(
        """
        people person adults children child kids boys girls men women woman man males females ladies folk anyone
        anybody everyone everybody those pupils students patients pensioners seniors parents mothers fathers
        drivers riders users guests members voters citizens tenants workers staff employees applicants borrowers
        respondents residents players runners viewers readers donors clients customers passengers aged age
        """
    )
)
"""Stems of nouns whose bare number is an age."""
_SIDES: dict[str, Operator] = {
    "over": "above",
    "above": "above",
    "past": "above",
    "older than": "above",
    "under": "below",
    "below": "below",
    "younger than": "below",
}
_TAIL_SIDES: dict[str, Operator] = {
    **dict.fromkeys(("older", "over", "above"), "at_least"),
    **dict.fromkeys(("younger", "under", "below"), "at_most"),
}


def find_age_bounds(text: str, tables: Sequence[TableProfile], target: str | None) -> Iterator[RowCondition]:
    """Yield the bounds on the only column of ages, behind a noun for people."""
    columns = {
        column.name: column
        for table in tables
        for column in table.columns
        if column.is_number and _AGES & set(stems(column.name))
    }
    # An age that is asked for is no condition, and of two ages nobody can tell which is meant.
    if len(columns) != 1 or target in columns:
        return
    column = next(iter(columns.values()))
    for pattern, sides in ((_TAIL, _TAIL_SIDES), (_BOUND, _SIDES)):
        for match in pattern.finditer(text):
            if stem(match["noun"].casefold()) in _PEOPLE | ENTITIES and (value := _value(match, column)):
                side = " ".join(match["side"].casefold().split())
                yield RowCondition(column=column.name, operator=sides[side], values=[value])
                return


def _value(match: re.Match[str], column: Column) -> int | None:
    number = match["number"].casefold()
    value = int(number) if number.isdecimal() else ABOVE_ONE.get(number)
    return value if value is not None and column.spans(value) else None
