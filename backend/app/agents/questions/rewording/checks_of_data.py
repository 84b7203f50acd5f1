"""Rewording of hurried checks of a table to their questions: `rows & receipts?`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.marking.mark_items import mark_items

_ROWS_AND = re.compile(
    r"^\W*(?:how many )?(?:rows|records|lines|entries) (?:and|&) (?:how many )?(?P<noun>[a-z_]{3,30}s)\W*$",
    re.IGNORECASE,
)
"""The size of a table, and of what it is about."""


def reword_checks(question: str, tables: Sequence[TableProfile]) -> str:
    """Say what a hurried check asks for, where its noun is a column."""
    if (match := _ROWS_AND.match(question)) and _is_column(match["noun"], tables):
        return f"number of rows and number of different {match['noun']}"
    return question


def _is_column(noun: str, tables: Sequence[TableProfile]) -> bool:
    return any(item.columns for item in mark_items(noun, tables).items)
