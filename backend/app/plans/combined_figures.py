"""Figures that a plan makes of two others, in words."""

from collections.abc import Sequence

from app.plans import expressions as e
from app.plans import plan as p

_COMBINATIONS = {"/": "divided by", "-": "less", "+": "plus", "*": "times"}


def describe_combinations(step: p.DeriveStep, steps: Sequence[p.Step]) -> list[str]:
    """Say what is made of two figures of groups: without it a ratio would read as both of its parts."""
    figures = {entry.name for own in steps if isinstance(own, p.GroupStep) for entry in own.aggregations}
    return [
        f"and `{first.name}` {_COMBINATIONS[column.expression.op]} `{second.name}`"
        for column in step.columns
        if isinstance(column.expression, e.ArithmeticExpression) and column.expression.op in _COMBINATIONS
        if isinstance(first := column.expression.left, e.ColumnExpression) and first.name in figures
        if isinstance(second := column.expression.right, e.ColumnExpression) and second.name in figures
    ]
