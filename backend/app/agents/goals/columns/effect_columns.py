"""Columns of a question for an effect: those by which rows are compared, and what of them is compared."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from app.agents.goals.columns.ranking import rank_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.effect_questions import find_effect_phrases
from app.agents.goals.tables.ordinal_scales import ordered_values
from app.agents.goals.tables.profiles import Column, TableProfile

MIN_PROBABILITY = 0.6
"""Probability from which a phrase means a column: both phrases of a question for an effect have to mean one."""
MIN_GROUPS, MAX_GROUPS = 2, 20
"""Groups that a reader compares at a glance."""
_NO_MEASURES = frozenset(("id", "text", "datetime", "constant", "empty"))


class EffectColumns(NamedTuple):
    """The columns of a question for an effect, and the probability that it means both."""

    table: TableProfile
    cause: Column
    effect: Column
    probability: float


def find_effect_columns(text: str, tables: Sequence[TableProfile]) -> EffectColumns | None:
    """Find the columns of a question for an effect; None for others, and where a phrase means no column."""
    readings = [
        reading
        for phrases in find_effect_phrases(text)
        for table in tables
        if (reading := _read(table, phrases.cause, phrases.effect))
    ]
    # The first of equally likely readings splits the sentence at its verb.
    return max(readings, key=lambda reading: reading.probability, default=None)


def _read(table: TableProfile, cause_phrase: str, effect_phrase: str) -> EffectColumns | None:
    cause, cause_probability = _meant_column(cause_phrase, table)
    effect, effect_probability = _meant_column(effect_phrase, table)
    if min(cause_probability, effect_probability) < MIN_PROBABILITY or cause == effect:
        return None
    if not (_makes_groups(cause) and _is_compared(effect)):
        return None
    return EffectColumns(table, cause, effect, cause_probability * effect_probability)


@lru_cache(maxsize=64)
def _meant_column(phrase: str, table: TableProfile) -> tuple[Column, float]:
    """Return the column that a phrase probably means, and its probability."""
    columns = table.columns
    probabilities = rank_columns(parse_goal(phrase), [(table, column) for column in columns])
    best = max(range(len(columns)), key=lambda place: probabilities[place])
    return columns[best], probabilities[best]


def _makes_groups(column: Column) -> bool:
    if column.is_number:
        return column.hint not in _NO_MEASURES
    return column.hint not in ("id", "datetime", "constant", "empty") and (
        MIN_GROUPS <= column.distinct <= MAX_GROUPS
    )


def _is_compared(column: Column) -> bool:
    """Test for a number, a yes or no, or steps of a scale: of other texts nothing is higher or lower."""
    if column.is_number or column.type == "boolean":
        return column.hint not in _NO_MEASURES
    return column.distinct == MIN_GROUPS or ordered_values(column) is not None
