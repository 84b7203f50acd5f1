"""Parts of the calendar of several words, whose single words may resemble a column: `day of the week`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.matching.column_matching import name_parts

_WEEKDAY = re.compile(r"\bdays? of (?:the )?week\b", re.IGNORECASE)


def reword_calendar_parts(question: str, tables: Sequence[TableProfile]) -> str:
    """Write `day of the week` as the weekday of a date, unless a column is called so.

    `transit_days` resembles its first word, and would be what rows are grouped by.
    """
    if not any(table.dates for table in tables):
        return question
    has_own = any({"day", "week"} <= set(name_parts(c.name)) for table in tables for c in table.columns)
    return question if has_own else _WEEKDAY.sub("weekday", question)
