"""What a goal says that a column is: `zper` is the person, `day` orders the rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.goals.stemming import stem, words
from app.agents.goals.tables import Column

_SAID = re.compile(
    r"(?:`(?P<ticked>[^`]+)`|(?P<bare>\b\w+))\s*"
    r"(?:is|are|means|identifies|names|tells|marks|stands for|orders|numbers|=)\s+(?P<rest>[^.,;:!?]+)",
    re.IGNORECASE,
)


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


_TIME = _stems("day date time month year week hour minute quarter when moment rows order timestamp")
_TARGET = _stems("target label outcome response predict predicted answer")
ENTITIES = _stems(
    """
    person people patient subject customer user client account household family store shop device machine
    student player driver session site school hospital woman women man men company firm animal plant speaker
    product item worker employee vehicle car borrower member donor team country region who
    """
)


@dataclass(frozen=True)
class Role:
    """A column's `name` as the goal writes it, and the stems of what it says that the column is."""

    name: str
    said: frozenset[str]
    ticked: bool

    @property
    def is_time(self) -> bool:
        return bool(self.said & _TIME) and not self.is_entity

    @property
    def is_entity(self) -> bool:
        return bool(self.said & ENTITIES)

    @property
    def describes(self) -> bool:
        """Something else than what is predicted."""
        return not self.said & _TARGET and (self.ticked or self.is_entity or self.is_time)


def roles_of(text: str) -> tuple[Role, ...]:
    return tuple(
        Role(found["ticked"] or found["bare"], _stems(found["rest"]), bool(found["ticked"]))
        for found in _SAID.finditer(text)
    )


def described(roles: Sequence[Role], columns: Sequence[Column]) -> dict[str, Role]:
    """Columns of which the goal says what they are (other than the target): name -> role."""
    by_folded = {column.name.casefold(): column.name for column in columns}
    said = {by_folded.get(role.name.casefold(), ""): role for role in roles if role.describes}
    return {name: role for name, role in said.items() if name}


_NUMBERED = frozenset({"id", "no", "number", "key", "nr"})
_TRAITS = _stems("country region team product item company firm plant car store shop site school hospital")
"""Words that a column without a number in its name rather uses for a trait of its rows."""


def is_entity(column: Column, rows: int) -> bool:
    """Does the column name someone or something that has several rows?"""
    said = _stems(column.name)
    named = said - _NUMBERED
    if not named or not named <= ENTITIES or column.unique or column.missing > 0.1:
        return False
    if named & _TRAITS and not said & _NUMBERED:
        return False
    return column.distinct >= 10 and rows >= 1.5 * column.distinct and column.type not in ("number", "datetime")
