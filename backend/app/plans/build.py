"""Short constructors of the parts of a plan."""

from collections.abc import Sequence
from typing import Literal

from app.plans import expressions as e
from app.plans.plan import (
    AggregateFunction,
    Aggregation,
    DerivedColumn,
    DeriveStep,
    FilterStep,
    GroupStep,
    LimitStep,
    SelectedColumn,
    SelectStep,
    SortKey,
    SortStep,
    WindowColumn,
    WindowFunction,
    WindowStep,
)

ComparisonSign = Literal["=", "!=", "<", "<=", ">", ">="]


def column(name: str) -> e.Expression:
    return e.ColumnExpression(kind="column", name=name)


def literal(value: e.Scalar) -> e.Expression:
    return e.LiteralExpression(kind="literal", value=value)


def moment(text: str) -> e.Expression:
    """A time from ISO 8601 text."""
    return e.LiteralExpression(kind="literal", value=text, type="datetime")


def compare(sign: ComparisonSign, first: e.Expression, second: e.Expression) -> e.Expression:
    return e.CompareExpression(kind="compare", op=sign, left=first, right=second)


def arithmetic(sign: Literal["+", "-", "*", "/"], first: e.Expression, second: e.Expression) -> e.Expression:
    return e.ArithmeticExpression(kind="arithmetic", op=sign, left=first, right=second)


def every(conditions: Sequence[e.Expression]) -> e.Expression:
    """All conditions, by `and`."""
    return conditions[0] if len(conditions) == 1 else e.LogicExpression(kind="and", operands=[*conditions])


def either(conditions: Sequence[e.Expression]) -> e.Expression:
    """Any of the conditions, by `or`."""
    return conditions[0] if len(conditions) == 1 else e.LogicExpression(kind="or", operands=[*conditions])


def negate(operand: e.Expression) -> e.Expression:
    return (
        operand.operand
        if isinstance(operand, e.NotExpression)
        else e.NotExpression(kind="not", operand=operand)
    )


def is_missing(operand: e.Expression) -> e.Expression:
    return e.IsNullExpression(kind="is_null", operand=operand)


def is_present(operand: e.Expression) -> e.Expression:
    return negate(is_missing(operand))


def is_one_of(operand: e.Expression, values: Sequence[e.Scalar]) -> e.Expression:
    return e.InExpression(kind="in", operand=operand, values=[*values])


def date_part(part: e.DatePart, operand: e.Expression) -> e.Expression:
    return e.DatePartExpression(kind="date_part", part=part, operand=operand)


def date_trunc(unit: e.DateUnit, operand: e.Expression) -> e.Expression:
    return e.DateTruncExpression(kind="date_trunc", unit=unit, operand=operand)


def call(function: str, *arguments: e.Expression) -> e.Expression:
    return e.CallExpression(kind="call", function=function, arguments=[*arguments])


def case(branches: Sequence[tuple[e.Expression, e.Expression]], otherwise: e.Expression | None) -> e.Expression:
    """The value of the first branch (condition, value) that holds."""
    parts = [e.CaseBranch(when=when, then=then) for when, then in branches]
    return e.CaseExpression(kind="case", branches=parts, otherwise=otherwise)


def cast_to(type_: e.ColumnType, operand: e.Expression) -> e.Expression:
    return e.CastExpression(kind="cast", to=type_, operand=operand)


def keep(condition: e.Expression) -> FilterStep:
    return FilterStep(kind="filter", condition=condition)


def derive(name: str, expression: e.Expression) -> DeriveStep:
    return DeriveStep(kind="derive", columns=[DerivedColumn(name=name, expression=expression)])


def aggregation(
    name: str,
    function: AggregateFunction,
    of: str | None = None,
    where: e.Expression | None = None,
    share: float | None = None,
    other: str | None = None,
) -> Aggregation:
    return Aggregation(name=name, function=function, column=of, where=where, share=share, other=other)


def group(keys: Sequence[str], aggregations: Sequence[Aggregation]) -> GroupStep:
    return GroupStep(kind="group", keys=[*keys], aggregations=[*aggregations])


def sort(*keys: tuple[str, bool]) -> SortStep:
    """Sort by columns; the flag says descending."""
    return SortStep(kind="sort", keys=[SortKey(column=name, descending=down) for name, down in keys])


def limit(rows: int) -> LimitStep:
    return LimitStep(kind="limit", rows=rows)


def select(names: Sequence[str]) -> SelectStep:
    return SelectStep(kind="select", columns=[SelectedColumn(name=name) for name in names])


def window(
    name: str,
    function: WindowFunction,
    of: str | None = None,
    within: Sequence[str] = (),
    order: Sequence[tuple[str, bool]] = (),
    rows: int = 1,
    share: float | None = None,
) -> WindowStep:
    keys = [SortKey(column=key, descending=down) for key, down in order]
    figure = WindowColumn(
        name=name, function=function, column=of, within=[*within], order=keys, rows=rows, share=share
    )
    return WindowStep(kind="window", columns=[figure])
