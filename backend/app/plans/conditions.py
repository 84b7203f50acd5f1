"""Conditions of a plan: their columns, and whether two of them can hold together."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.plans import expressions as e
from app.plans.plan import FilterStep

Key = tuple[int, Any]
"""A value that sorts among values of its own type only."""


def list_columns(expression: e.Expression, derived: Mapping[str, e.Expression]) -> Set[str]:
    """List the columns that an expression reads; those that are derived by the columns behind them."""
    names = {part.name for part in _walk(expression) if isinstance(part, e.ColumnExpression)}
    behind = [list_columns(derived[name], {}) for name in names if name in derived]
    return frozenset(name for name in names if name not in derived).union(*behind)


def is_presence(step: FilterStep) -> bool:
    """Test for a condition that only asks that a value is given."""
    condition = step.condition
    return isinstance(condition, e.NotExpression) and isinstance(condition.operand, e.IsNullExpression)


def contradict(first: e.Expression, second: e.Expression) -> bool:
    """Test if no row can meet both conditions. Only values and ranges of one expression are compared."""
    a, b = _read_range(first), _read_range(second)
    if a is None or b is None or a.operand != b.operand:
        return False
    if a.values is not None and b.values is not None:
        return not a.values & b.values
    if a.values is not None or b.values is not None:
        values, limits = (a.values, b) if a.values is not None else (b.values or frozenset(), a)
        return not any(limits.holds(value) for value in values)
    return bool(a.low and b.high and _is_past(a.low, b.high)) or bool(
        b.low and a.high and _is_past(b.low, a.high)
    )


@dataclass(frozen=True)
class _Range:
    """The values that a condition admits: a set, or ends (key, is included)."""

    operand: e.Expression
    values: frozenset[Key] | None = None
    low: tuple[Key, bool] | None = None
    high: tuple[Key, bool] | None = None

    def holds(self, value: Key) -> bool:
        point = (value, True)
        return not (self.low and _is_past(self.low, point)) and not (self.high and _is_past(point, self.high))


def _is_past(low: tuple[Key, bool], high: tuple[Key, bool]) -> bool:
    """Test if a lower end lies beyond an upper one."""
    (low_key, has_low), (high_key, has_high) = low, high
    # Keys of different types do not compare, so nothing is ruled out.
    if low_key[0] != high_key[0]:
        return False
    return bool(low_key > high_key or (low_key == high_key and not (has_low and has_high)))


def _read_range(expression: e.Expression) -> _Range | None:
    match expression:
        case e.InExpression():
            return _Range(expression.operand, frozenset(map(_key, expression.values)))
        case e.CompareExpression():
            return _read_comparison(expression)
        case e.BetweenExpression():
            low, high = _literal(expression.low), _literal(expression.high)
            return _Range(expression.operand, None, (low, True), (high, True)) if low and high else None
        case e.LogicExpression(kind="and"):
            return _intersect([_read_range(operand) for operand in expression.operands])
    return None


def _intersect(ranges: list[_Range | None]) -> _Range | None:
    """The range of two ends of one expression, such as those of a year."""
    ends = (
        [r for r in ranges if r is not None and r.values is None and r.operand == ranges[0].operand]
        if ranges[0]
        else []
    )
    # A condition that cannot be read may narrow the rest in any way.
    if len(ends) != len(ranges):
        return None
    lows, highs = [r.low for r in ends if r.low], [r.high for r in ends if r.high]
    return _Range(ends[0].operand, None, max(lows, default=None), min(highs, default=None))


def _read_comparison(expression: e.CompareExpression) -> _Range | None:
    value = _literal(expression.right)
    if value is None:
        return None
    match expression.op:
        case "=":
            return _Range(expression.left, frozenset([value]))
        case "<" | "<=":
            return _Range(expression.left, None, None, (value, expression.op == "<="))
        case ">" | ">=":
            return _Range(expression.left, None, (value, expression.op == ">="), None)
    return None


def _literal(expression: e.Expression) -> Key | None:
    if not isinstance(expression, e.LiteralExpression) or expression.value is None:
        return None
    return _key(e.parse_datetime(expression.value) if expression.type else expression.value)


def _key(value: Any) -> Key:
    if isinstance(value, datetime):
        return (2, value)
    return (1, value) if isinstance(value, str) else (0, float(value))


def _walk(expression: Any) -> list[Any]:
    """List an expression and all parts of it."""
    parts = [expression]
    for name in type(expression).model_fields:
        value = getattr(expression, name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, e.Model):
                parts += _walk(part)
    return parts
