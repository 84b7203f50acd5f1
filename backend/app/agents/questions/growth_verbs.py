"""The verb `grow`: a figure that changes over time, or things that somebody grows."""

from collections.abc import Sequence

from app.agents.questions.grammar_words import CLASSES
from app.agents.questions.items import QuestionItem
from app.agents.questions.tables.years import MAX_YEAR, MIN_YEAR

_EXTENTS = frozenset({"by", "from", "in", "over", "to", "since", "between", "per", "during"})
"""Words behind a verb that say how much or since when something changed."""
_GROWING = frozenset({"grow", "grows"})
"""Verbs of a change, which without a time say what things do: `which farms grow barley`."""


def grows_things(items: Sequence[QuestionItem], place: int) -> bool:
    """Tell if `grow` is said of things and not of a figure: nothing in the question says a time."""
    following = items[place + 1].text if place + 1 < len(items) else ""
    is_transitive = items[place].text in _GROWING and following not in _EXTENTS
    return is_transitive and not any(map(_names_time, items))


def _names_time(item: QuestionItem) -> bool:
    """Tell if a word says a time or a period: `monthly`, `June`, `2023`."""
    is_year = item.number is not None and MIN_YEAR <= item.number <= MAX_YEAR
    is_period = item.word in CLASSES["@period"] | CLASSES["@month"] or item.kind == "date"
    return is_period or is_year or any(match.column.type == "datetime" for match in item.columns[:1])
