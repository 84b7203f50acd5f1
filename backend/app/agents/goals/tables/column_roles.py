"""Roles of columns that a goal describes: `zper` is the person, `day` orders the rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.stemming import stems
from app.agents.goals.words.vocabulary import IDENTIFIER_WORDS

_ROLE_PHRASE = re.compile(
    r"(?:`([^`]+)`|(\b\w+))\s*"
    r"(?:is|are|means|identifies|names|tells|marks|stands for|orders|numbers|=)\s+([^.,;:!?]+)",
    re.IGNORECASE,
)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


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
class ColumnRole:
    """A column's `name` as the goal writes it, and the stems of its description."""

    name: str
    stems: frozenset[str]
    is_quoted: bool

    @property
    def is_time(self) -> bool:
        return bool(self.stems & _TIME) and not self.is_entity

    @property
    def is_entity(self) -> bool:
        return bool(self.stems & ENTITIES)

    @property
    def is_not_target(self) -> bool:
        """True for a role other than the target."""
        return not self.stems & _TARGET and (self.is_quoted or self.is_entity or self.is_time)


def parse_roles(text: str) -> tuple[ColumnRole, ...]:
    """Parse the roles that a goal describes."""
    return tuple(
        ColumnRole(backticked or bare, _stems(description), bool(backticked))
        for backticked, bare, description in _ROLE_PHRASE.findall(text)
    )


def match_roles(roles: Sequence[ColumnRole], columns: Sequence[Column]) -> dict[str, ColumnRole]:
    """Return the roles by column name, without the target's."""
    folded_names = {column.name.casefold(): column.name for column in columns}
    by_column = {folded_names.get(role.name.casefold(), ""): role for role in roles if role.is_not_target}
    return {name: role for name, role in by_column.items() if name}


_TRAITS = _stems("country region team product item company firm plant car store shop site school hospital")
"""Words that usually name an attribute of the rows, unless the column's name marks it as an identifier."""


def is_entity(column: Column, rows: int) -> bool:
    """Tell if the column identifies entities with several rows each."""
    name_stems = _stems(column.name)
    nouns = name_stems - IDENTIFIER_WORDS
    if not nouns or not nouns <= ENTITIES or column.unique or column.missing > 0.1:
        return False
    # `region` tells what rows are like, `region_id` may tell whose they are.
    if nouns & _TRAITS and not name_stems & IDENTIFIER_WORDS:
        return False
    if column.type == "integer" and column.name.endswith("s") and not name_stems & IDENTIFIER_WORDS:
        return False  # numbers called `customers` say how many there are
    return column.distinct >= 10 and rows >= 1.5 * column.distinct and column.type not in ("number", "datetime")
