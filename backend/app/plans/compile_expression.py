"""Compilation of expressions to typed SQL trees."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sqlglot import exp

from app.plans import expressions as e
from app.plans.expressions import ColumnType, Scalar, parse_datetime
from app.plans.functions import FUNCTIONS, SQL_TYPES, ArgumentType, call, cast, group
from app.plans.schema import refuse, resolve

NUMBERS = frozenset({"integer", "number"})
DATE_PARTS = {"weekday": "isodow", "day_of_year": "dayofyear", "week": "weekofyear"}
"""Parts whose DuckDB function has another name."""


class Typed(NamedTuple):
    """A tree and its type; None for a literal null, which fits every type."""

    tree: exp.Expr
    type: ColumnType | None


Scope = Mapping[str, Typed]
"""Columns by name."""


def compile_expression(expression: Any, scope: Scope, place: str) -> Typed:
    """Compile an expression over the columns of `scope`. Raises InvalidInput that names the place."""
    return _COMPILERS[type(expression)](expression, scope, place)


def compile_condition(expression: Any, scope: Scope, place: str) -> exp.Expr:
    """Compile an expression that must be true or false."""
    condition = compile_expression(expression, scope, place)
    _require(condition, "boolean", place)
    return condition.tree


def find_column(name: str, scope: Scope, place: str) -> tuple[str, Typed]:
    """Find a column: its name as spelled in the schema, and its tree."""
    spelled = resolve(name, scope, "column", place)
    return spelled, scope[spelled]


def compile_scalar(value: Scalar | None) -> Typed:
    """Compile a value. Numbers are typed from text, since DuckDB reads 0.1 as a decimal."""
    match value:
        case None:
            return Typed(exp.Null(), None)
        case bool():
            return Typed(exp.Boolean(this=value), "boolean")
        case int():
            # The sign is an operator in SQL, not a part of the number.
            digits: exp.Expr = exp.Literal.number(str(abs(value)))
            return Typed(cast(exp.Neg(this=digits) if value < 0 else digits, "BIGINT"), "integer")
        case float():
            return Typed(cast(exp.Literal.string(repr(value)), "DOUBLE"), "number")
        case str():
            return Typed(exp.Literal.string(value), "text")


def common_type(values: list[Typed], place: str) -> ColumnType | None:
    """The type that all values share; integer and number share number."""
    types = sorted({value.type for value in values if value.type is not None})
    if len(types) <= 1:
        return types[0] if types else None
    if NUMBERS.issuperset(types):
        return "number"
    raise refuse(place, f"The values have different types: {', '.join(types)}.", "type_mismatch")


def _require(value: Typed, expected: ArgumentType | ColumnType, place: str) -> None:
    if value.type is None or expected == "any" or value.type == expected:
        return
    if expected == "number" and value.type in NUMBERS:
        return
    hint = " Use a cast." if expected != "boolean" else ""
    raise refuse(place, f"This must be {expected}, not {value.type}.{hint}", "type_mismatch")


def _column(expression: e.ColumnExpression, scope: Scope, place: str) -> Typed:
    column = find_column(expression.name, scope, place)[1]
    return Typed(column.tree.copy(), column.type)


def _literal(expression: e.LiteralExpression, scope: Scope, place: str) -> Typed:
    if expression.type is None or expression.value is None:
        return compile_scalar(expression.value)
    moment = parse_datetime(expression.value).isoformat(sep=" ")
    return Typed(cast(exp.Literal.string(moment), "TIMESTAMP"), "datetime")


_ARITHMETIC: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


def _arithmetic(expression: e.ArithmeticExpression, scope: Scope, place: str) -> Typed:
    left = compile_expression(expression.left, scope, f"{place}.left")
    right = compile_expression(expression.right, scope, f"{place}.right")
    _require(left, "number", f"{place}.left")
    _require(right, "number", f"{place}.right")
    a, b = group(left.tree), group(right.tree)
    type_: ColumnType = "number" if "number" in (left.type, right.type) else "integer"
    match expression.op:
        case "/":
            return Typed(exp.Div(this=a, expression=_nonzero(b), typed=False, safe=False), "number")
        case "%":
            return Typed(exp.Mod(this=a, expression=_nonzero(b)), type_)
    return Typed(_ARITHMETIC[expression.op](this=a, expression=b), type_)


def _nonzero(tree: exp.Expr) -> exp.Expr:
    # By default DuckDB divides numbers by zero to infinity, which no later figure survives.
    return call("nullif", tree, exp.Literal.number(0))


_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def _compare(expression: e.CompareExpression, scope: Scope, place: str) -> Typed:
    left = compile_expression(expression.left, scope, f"{place}.left")
    right = compile_expression(expression.right, scope, f"{place}.right")
    # Only checked: DuckDB would cast a text to a number, and fail at the first row that is none.
    common_type([left, right], place)
    kind = _COMPARISONS[expression.op]
    return Typed(kind(this=group(left.tree), expression=group(right.tree)), "boolean")


def _logic(expression: e.LogicExpression, scope: Scope, place: str) -> Typed:
    kind = exp.And if expression.kind == "and" else exp.Or
    operands = [
        group(compile_condition(operand, scope, f"{place}.operands[{n}]"))
        for n, operand in enumerate(expression.operands)
    ]
    tree = operands[0]
    for operand in operands[1:]:
        tree = kind(this=tree, expression=operand)
    return Typed(tree, "boolean")


def _not(expression: e.NotExpression, scope: Scope, place: str) -> Typed:
    operand = compile_condition(expression.operand, scope, f"{place}.operand")
    return Typed(exp.Not(this=group(operand)), "boolean")


def _in(expression: e.InExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    values = [compile_scalar(value) for value in expression.values]
    common_type([operand, *values], place)
    return Typed(exp.In(this=group(operand.tree), expressions=[value.tree for value in values]), "boolean")


def _between(expression: e.BetweenExpression, scope: Scope, place: str) -> Typed:
    parts = {
        field: compile_expression(getattr(expression, field), scope, f"{place}.{field}")
        for field in ("operand", "low", "high")
    }
    common_type(list(parts.values()), place)
    operand, low, high = (group(part.tree) for part in parts.values())
    return Typed(exp.Between(this=operand, low=low, high=high), "boolean")


def _is_null(expression: e.IsNullExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    return Typed(exp.Is(this=group(operand.tree), expression=exp.Null()), "boolean")


def _like(expression: e.LikeExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    _require(operand, "text", f"{place}.operand")
    kind = exp.ILike if expression.ignore_case else exp.Like
    pattern = exp.Literal.string(expression.pattern)
    return Typed(kind(this=group(operand.tree), expression=pattern), "boolean")


def _contains(expression: e.ContainsExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    _require(operand, "text", f"{place}.operand")
    # Not ILIKE, in which a percent sign of the text would be a pattern.
    trees = [operand.tree, exp.Literal.string(expression.text)]
    if expression.ignore_case:
        trees = [call("lower", tree) for tree in trees]
    return Typed(call("contains", *trees), "boolean")


def _case(expression: e.CaseExpression, scope: Scope, place: str) -> Typed:
    branches, values = [], []
    for n, branch in enumerate(expression.branches):
        condition = compile_condition(branch.when, scope, f"{place}.branches[{n}].when")
        values.append(compile_expression(branch.then, scope, f"{place}.branches[{n}].then"))
        branches.append(exp.If(this=condition, true=values[-1].tree))
    if expression.otherwise is not None:
        values.append(compile_expression(expression.otherwise, scope, f"{place}.otherwise"))
    default = values[-1].tree if expression.otherwise is not None else None
    return Typed(exp.Case(ifs=branches, default=default), common_type(values, place))


def _date_part(expression: e.DatePartExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    _require(operand, "datetime", f"{place}.operand")
    return Typed(call(DATE_PARTS.get(expression.part, expression.part), operand.tree), "integer")


def _date_trunc(expression: e.DateTruncExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    _require(operand, "datetime", f"{place}.operand")
    start = call("date_trunc", exp.Literal.string(expression.unit), operand.tree)
    return Typed(cast(start, "TIMESTAMP"), "datetime")


def _cast(expression: e.CastExpression, scope: Scope, place: str) -> Typed:
    operand = compile_expression(expression.operand, scope, f"{place}.operand")
    # TRY_CAST would give a null for every row: the mistake is told instead of an empty column.
    if {operand.type, expression.to} in (
        {"datetime", "integer"},
        {"datetime", "number"},
        {"datetime", "boolean"},
    ):
        raise refuse(place, f"A {operand.type} cannot become {expression.to}.", "type_mismatch")
    return Typed(cast(operand.tree, SQL_TYPES[expression.to], lenient=True), expression.to)


_UNITS_BETWEEN = {"days_between": "day", "seconds_between": "second", "years_between": "year"}


def _call(expression: e.CallExpression, scope: Scope, place: str) -> Typed:
    function = FUNCTIONS[resolve(expression.function, FUNCTIONS, "function", f"{place}.function")]
    count = len(expression.arguments)
    if not function.min_count <= count <= function.max_count:
        expected = f"{function.min_count} to {function.max_count}"
        raise refuse(place, f"{expression.function} takes {expected} arguments, not {count}.")
    values = []
    for n, argument in enumerate(expression.arguments):
        values.append(compile_expression(argument, scope, f"{place}.arguments[{n}]"))
        kind = function.arguments[min(n, len(function.arguments) - 1)]
        _require(values[-1], kind, f"{place}.arguments[{n}]")
    type_ = function.result or common_type(values, place)
    trees = [value.tree for value in values]
    if expression.function.casefold() in _UNITS_BETWEEN:
        trees.insert(0, exp.Literal.string(_UNITS_BETWEEN[expression.function.casefold()]))
    # DuckDB rounds to places of the type INTEGER only, and our integers are BIGINT.
    if expression.function.casefold() in ("round", "substring"):
        trees[1:] = [cast(tree, "INT") for tree in trees[1:]]
    return Typed(call(function.sql, *trees), type_)


_COMPILERS: dict[type, Callable[[Any, Scope, str], Typed]] = {
    e.ColumnExpression: _column,
    e.LiteralExpression: _literal,
    e.ArithmeticExpression: _arithmetic,
    e.CompareExpression: _compare,
    e.LogicExpression: _logic,
    e.NotExpression: _not,
    e.InExpression: _in,
    e.BetweenExpression: _between,
    e.IsNullExpression: _is_null,
    e.LikeExpression: _like,
    e.ContainsExpression: _contains,
    e.CaseExpression: _case,
    e.DatePartExpression: _date_part,
    e.DateTruncExpression: _date_trunc,
    e.CastExpression: _cast,
    e.CallExpression: _call,
}
