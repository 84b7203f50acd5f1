"""The measure of each column that a plan computes: a key of groups, a count, a share, a verdict, or another
figure."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel

from app.plans import expressions as e
from app.plans import plan as p

Measure = Literal["key", "count", "share", "figure", "verdict"]
"""`share`: a fraction of rows or of a total, from 0 to 1, which readers expect as a percentage. `verdict`: yes
or no, of a comparison of figures."""
_SCALE_KEPT = ("mean", "median", "min", "max", "quantile", "first", "sum", "lag", "lead", "moving_mean")
"""Functions whose result is of the scale of their column: a mean of shares is a share."""
_ADDED = ("sum", "count")
"""Functions of which that of some rows is a part of that of all."""
_RANKS = ("row_number", "rank", "dense_rank")


def find_measures(plan: p.Plan) -> dict[str, Measure]:
    """Return `{column: measure}` of the result; columns that are shown as they were stored have none."""
    measures: dict[str, Measure] = {}
    if isinstance(plan.source, p.PlanSource):
        measures = find_measures(plan.source.plan)
    totals = {
        entry.name: entry for step in plan.steps if isinstance(step, p.GroupStep) for entry in step.aggregations
    }
    for step in plan.steps:
        measures = _after(step, measures)
        if isinstance(step, p.DeriveStep):
            shares = (column.name for column in step.columns if _is_part_of_total(column.expression, totals))
            measures |= dict.fromkeys(shares, "share")
    return measures


def _is_part_of_total(expression: e.Expression, totals: Mapping[str, p.Aggregation]) -> bool:
    """Tell if a total of some rows is divided by that of all rows: the revenue of York by all revenue."""
    if not isinstance(expression, e.ArithmeticExpression) or expression.op != "/":
        return False
    first, second = (
        totals.get(operand.name) if isinstance(operand, e.ColumnExpression) else None
        for operand in (expression.left, expression.right)
    )
    if first is None or second is None or first.where is None or second.where is not None:
        return False
    return first.function in _ADDED and (first.function, first.column) == (second.function, second.column)


def _after(step: p.Step, measures: Mapping[str, Measure]) -> dict[str, Measure]:
    match step:
        case p.GroupStep():
            keys: dict[str, Measure] = dict.fromkeys(step.keys, "key")
            return keys | {
                aggregation.name: _aggregated(aggregation.function, aggregation.column, measures)
                for aggregation in step.aggregations
            }
        case p.WindowStep():
            return {**measures} | {
                column.name: _windowed(column.function, column.column, measures) for column in step.columns
            }
        case p.DeriveStep():
            derived = {**measures}
            for column in step.columns:
                if (measure := _derived(column.expression, derived)) is not None:
                    derived[column.name] = measure
                else:
                    derived.pop(column.name, None)
            return derived
        case p.SelectStep():
            return {
                column.rename or column.name: measures[column.name]
                for column in step.columns
                if column.name in measures
            }
        case p.PivotStep():
            pivot_keys: dict[str, Measure] = dict.fromkeys(step.keys, "key")
            measure = _aggregated(step.function, step.of, measures)
            return pivot_keys | {str(value): measure for value in step.values}
        case p.UnpivotStep():
            melted = {name: measure for name, measure in measures.items() if name not in step.columns}
            values = {measures.get(name) for name in step.columns}
            # A column that holds both shares and counts is neither.
            shared = values.pop() if len(values) == 1 else None
            return melted | ({step.value: shared} if shared else {})
        case p.ProfileStep() | p.CorrelateStep():
            return {}
    return {**measures}


def _aggregated(function: str, column: str | None, measures: Mapping[str, Measure]) -> Measure:
    if function in ("count", "count_distinct"):
        return "count"
    if function == "share_true":
        return "share"
    return _scale(function, column, measures)


def _windowed(function: str, column: str | None, measures: Mapping[str, Measure]) -> Measure:
    if function in _RANKS:
        return "count"
    return "share" if function == "share" else _scale(function, column, measures)


def _scale(function: str, column: str | None, measures: Mapping[str, Measure]) -> Measure:
    measure: Measure = measures.get(column or "", "figure") if function in _SCALE_KEPT else "figure"
    # The mean of a key is a figure, and names no group.
    return "figure" if measure == "key" else measure


def _derived(expression: e.Expression, measures: Mapping[str, Measure]) -> Measure | None:
    """Return the measure of a computed column: that of another column only where it is its copy."""
    if isinstance(expression, e.ColumnExpression):
        return measures.get(expression.name)
    # Computed of stored columns and keys alone, a column is data like them, and no figure.
    if all(measures.get(name, "key") == "key" for name in _column_names(expression)):
        return None
    return "verdict" if isinstance(expression, e.CompareExpression) else "figure"


def _column_names(expression: e.Expression) -> Iterator[str]:
    parts: list[object] = [expression]
    while parts:
        part = parts.pop()
        if isinstance(part, e.ColumnExpression):
            yield part.name
        elif isinstance(part, BaseModel):
            parts.extend(value for _, value in part)
        elif isinstance(part, list):
            parts.extend(part)
