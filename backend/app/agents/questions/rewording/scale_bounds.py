"""Rewording of bounds on steps of a scale as the values that meet them: `good or better`."""

from collections.abc import Sequence

from app.agents.goals.conditions.scale_bounds import find_scale_bounds
from app.agents.goals.tables.profiles import TableProfile


def reword_scale_bounds(question: str, tables: Sequence[TableProfile]) -> str:
    """Say the values that meet a bound on a scale, in its order."""
    text = question
    for bound in sorted(find_scale_bounds(question, tables), key=lambda bound: -bound.span[0]):
        start, end = bound.span
        text = f"{text[:start]}{' or '.join(bound.values)}{text[end:]}"
    return text
