"""Assumptions of a goal about the future: "with ad spend of 6000", "if it rains", "we know next week's prices".

A forecast goes on from past values alone: such words select no rows, and nothing of them is part of it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.columns.target import N_STATES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stems

_CONDITIONAL = re.compile(
    r"(?<!\btell )(?<!\btell me )(?<!\bknow )(?<!\bsee )(?<!\bpredict )(?<!\bcheck )(?<!\bask )\b"
    r"(?:if|assuming(?: that)?|suppos(?:e|ing)(?: that)?|provided(?: that)?|in case) (?P<name>[^,.;:?!]{2,80})",
    re.IGNORECASE,
)
"""Clauses of what holds in the future; behind verbs of knowing, `if` begins what is to be predicted."""
_SETTING = re.compile(
    r"\b(?:with|at|given) (?:an? |the |our )?(?P<name>[\w %-]{2,40}?) ?(?:of|at|is|=|set to)"
    r" ?(?:about |around )?[$€£]?\d[\d.,]*+(?![^,.;:?!]{0,8}\b(?:or|and|to)\b)",
    re.IGNORECASE,
)
"""Amounts of a column, of which no single one selects rows."""


_KNOWN_AHEAD = re.compile(
    r"\b(?:we|i) (?:already |do )?know (?P<name>[^,.;:?!]{2,80})|\bknowing (?P<name2>[^,.;:?!]{2,80})"
    r"|(?P<name3>[^,.;:?!]{2,80}?) (?:is|are) known (?:in advance|beforehand|ahead)\b",
    re.IGNORECASE,
)
"""Clauses that say of columns that their future is known."""
_AHEAD_WORD = re.compile(
    r"\b(?:next|coming|upcoming|future|ahead|those|planned|advance|beforehand)\b", re.IGNORECASE
)
"""Words of times to come: what is known of the past is no assumption."""


class Assumptions(NamedTuple):
    """The columns of which a goal assumes something, and its text without these clauses."""

    columns: tuple[str, ...]
    remaining: str


def split_assumptions(text: str, table: TableProfile) -> Assumptions:
    """Split the clauses off a goal in which it assumes something of columns of a table."""
    amounts = [column for column in table.columns if column.is_number and column.distinct > N_STATES]
    names: list[str] = []
    for pattern, columns in ((_CONDITIONAL, table.columns), (_SETTING, amounts)):
        for match in pattern.finditer(text):
            if own := _find_columns(match["name"], columns):
                names += own
                text = text.replace(match[0], " ")
    for match in _KNOWN_AHEAD.finditer(text):
        clause = match["name"] or match["name2"] or match["name3"]
        if _AHEAD_WORD.search(match[0]) and (own := _find_columns(clause, table.columns)):
            names += own
            text = text.replace(match[0], " ")
    return Assumptions(tuple(dict.fromkeys(names)), text)


def _find_columns(clause: str, columns: Sequence[Column]) -> list[str]:
    clause_stems = {*stems(clause)}
    complete = [column.name for column in columns if {*stems(column.name)} <= clause_stems]
    return complete or match_columns(clause, columns)
