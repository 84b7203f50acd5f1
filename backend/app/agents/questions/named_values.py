"""Stored values that a question names, each of which a plan compares, groups by or shows apart."""

from collections.abc import Iterator, Sequence
from typing import Any

from app.agents.goals.tables.units import find_unit
from app.agents.questions.grammar_words import KNOWN_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.unexplained_words import is_filler
from app.plans.plan import GroupStep, Plan

MIN_SPELLED_SCORE = 0.95
"""Score of a value that a word spells out: of lower ones the word may mean something else."""
MIN_COLUMN_SCORE = 0.85
"""Score of a column that a word names: `rain` is that of millimetres rather than of a sky."""


def uncompared_values(plan: Plan, items: Sequence[QuestionItem]) -> Iterator[str]:
    """Yield words that spell out a stored value which a plan does not have: the rows would be others.

    A word that names a column or the rows as well claims no value.
    """
    texts = {*_texts(plan.model_dump())}
    keys = {key for step in plan.steps if isinstance(step, GroupStep) for key in step.keys}
    for item in items:
        if _names_value(item) and not _is_compared(item, texts, keys):
            yield item.text


def _names_value(item: QuestionItem) -> bool:
    if item.kind not in ("word", "name", "literal") or item.row_tables or not item.values:
        return False
    score = item.values[0].score
    if find_unit(item.word) is not None:
        return False  # `costs in eur` may be of any currency, converted
    names_column = bool(item.columns) and item.columns[0].score >= min(score, MIN_COLUMN_SCORE)
    return (
        score >= MIN_SPELLED_SCORE
        and not names_column
        and not is_filler(item.text)
        and item.word not in KNOWN_WORDS
    )


def _is_compared(item: QuestionItem, texts: set[str], keys: set[str]) -> bool:
    return any(
        match.column.name in keys or any(str(value).casefold() in texts for value in match.values)
        for match in item.values
    )


def _texts(part: Any) -> Iterator[str]:
    """Yield all texts and truth values of a plan, in small letters."""
    if isinstance(part, str | bool | int | float):
        yield str(part).casefold()
    elif isinstance(part, dict | list | tuple):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _texts(inner)
