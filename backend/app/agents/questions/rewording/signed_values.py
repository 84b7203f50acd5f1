"""Stored values of digits and signs, which are no numbers of a question: the season `2023/24`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile

MAX_VALUES = 200
"""Values of a column that are looked for."""
_SIGNED = re.compile(r"\d{1,6}(?:[/+-]\d{1,6}){1,3}")
"""A value of numbers that signs part or follow."""
_CANDIDATE = re.compile(r"(?<![\w\"'`/+-])\d{1,6}(?:[/+-]\d{1,6}){1,3}(?![\w\"'`/+-])")
"""The same in a question, where it is not quoted."""


def quote_signed_values(question: str, tables: Sequence[TableProfile]) -> str:
    """Quote the stored values of digits and signs that stand in a question."""
    stored = {
        str(value)
        for table in tables
        for column in table.columns
        if column.type == "text" or column.is_stored_as_text
        for value in [*column.values, *column.top][:MAX_VALUES]
        if _SIGNED.fullmatch(str(value))
    }
    return _CANDIDATE.sub(lambda match: f'"{match[0]}"' if match[0] in stored else match[0], question)
