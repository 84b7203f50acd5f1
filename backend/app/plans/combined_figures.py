"""Figures that a plan makes of two others, in words."""

from collections.abc import Sequence

from app.plans import expressions as e
from app.plans import plan as p

_COMBINATIONS = {"/": "divided by", "-": "less", "+": "plus", "*": "times"}


def describe_combinations(step: p.DeriveStep, steps: Sequence[p.Step]) -> list[str]:
    """Say what is made of two figures of groups: without it a ratio would read as both of its parts."""
    groups = [place for place, own in enumerate(steps) if isinstance(own, p.GroupStep)]
    after = steps[groups[0] :] if groups else ()
    figures = {entry.name for own in after if isinstance(own, p.GroupStep) for entry in own.aggregations}
    figures |= {column.name for own in after if isinstance(own, p.DeriveStep) for column in own.columns}
    return [
        f"and `{first.name}` {_COMBINATIONS[column.expression.op]} `{second.name}`"
        for column in step.columns
        if isinstance(column.expression, e.ArithmeticExpression) and column.expression.op in _COMBINATIONS
        if isinstance(first := column.expression.left, e.ColumnExpression) and first.name in figures
        if isinstance(second := column.expression.right, e.ColumnExpression) and second.name in figures
    ]
