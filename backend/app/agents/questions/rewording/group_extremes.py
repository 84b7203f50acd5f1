"""Rewording of questions for the extreme of each group: `for every pupil, the week with the best score`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.grammar_words import SUPERLATIVES
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.matching.value_matching import flag_values

_SUPERLATIVE = "|".join(sorted(SUPERLATIVES))
_GROUP_FIRST = re.compile(
    r"^\W*(?:for|in|of|at|within) (?:each|every) ([a-z_`]{2,30}(?: [a-z_`]{2,30})?),? ?:? ?"
    r"(?:show |give |list |tell me )?(?:the|which|what) ([a-z_`]{2,30}(?: [a-z_`]{2,30})?)"
    r" (?:with|of|that ha[sd]|which ha[sd]|ha[sd]) (?:the |its |their )?"
    rf"((?:{_SUPERLATIVE})\b.*)$",
    re.IGNORECASE,
)
"""The group before what is asked for of it."""
_EXTREME_OF_TWO = re.compile(
    rf"\b(?:the )?({_SUPERLATIVE}) ([a-z_-]{{2,30}})(?: and|,| versus| vs\.?) (?:the )?\1 ([a-z_-]{{2,30}})\b",
    re.IGNORECASE,
)
"""The same superlative of two groups: `oldest woman and oldest man`."""


def reword_group_extremes(question: str, tables: Sequence[TableProfile]) -> str:
    """Put the extreme of each group in the order that is read: `which week has ... for each pupil`."""
    text = _GROUP_FIRST.sub(_put_group_last, question)
    return _EXTREME_OF_TWO.sub(lambda match: _name_groups(match, tables), text)


def _put_group_last(match: re.Match[str]) -> str:
    extreme = match[3].rstrip(" ?.!")
    return f"which {match[2]} has the {extreme} for each {match[1]}"


def _name_groups(match: re.Match[str], tables: Sequence[TableProfile]) -> str:
    """Name the column whose only two values the superlatives are said of."""
    first, second = _column_of(match[2], tables), _column_of(match[3], tables)
    # Of more than two values the others would come in by this wording.
    if first is None or first != second or first.distinct != BOTH:
        return match[0]
    return f"{match[1]} rows of each `{first.name}`"


MIN_NAMED_SCORE = 0.85
"""Score of a value that a noun means: `woman` of a stored `f`."""
BOTH = 2
"""Values of a column of which both are named."""


def _column_of(noun: str, tables: Sequence[TableProfile]) -> Column | None:
    """The column of which a noun means a value, or which it says or denies as a yes or no."""
    items = [item for item in mark_items(noun, tables).items if item.values or item.columns]
    if len(items) != 1:
        return None
    values = [match for match in items[0].values if match.score >= MIN_NAMED_SCORE]
    flags = [
        match
        for match in items[0].columns
        if match.score >= MIN_NAMED_SCORE and flag_values(match.column) is not None
    ]
    return (values or flags)[0].column if values or flags else None
