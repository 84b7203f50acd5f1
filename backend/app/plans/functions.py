"""The closed list of functions of expressions, and builders of SQL calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from app.plans.expressions import ColumnType

ArgumentType = Literal["number", "text", "datetime", "any"]


@dataclass(frozen=True)
class Function:
    """`sql`: DuckDB's name. `arguments`: their types; the last repeats up to `max_count`. `result`: None for
    the type of the first argument."""

    sql: str
    arguments: Sequence[ArgumentType]
    result: ColumnType | None = None
    min_count: int = 1
    max_count: int = 1


FUNCTIONS: dict[str, Function] = {
    "abs": Function("abs", ["number"]),
    "round": Function("round", ["number", "number"], "number", 1, 2),
    "floor": Function("floor", ["number"], "number"),
    "ceil": Function("ceil", ["number"], "number"),
    "sqrt": Function("sqrt", ["number"], "number"),
    "ln": Function("ln", ["number"], "number"),
    "log10": Function("log10", ["number"], "number"),
    "exp": Function("exp", ["number"], "number"),
    "power": Function("pow", ["number", "number"], "number", 2, 2),
    "least": Function("least", ["any", "any"], None, 2, 20),
    "greatest": Function("greatest", ["any", "any"], None, 2, 20),
    "coalesce": Function("coalesce", ["any", "any"], None, 2, 20),
    "lower": Function("lower", ["text"], "text"),
    "upper": Function("upper", ["text"], "text"),
    "trim": Function("trim", ["text"], "text"),
    "length": Function("length", ["text"], "integer"),
    "substring": Function("substring", ["text", "number", "number"], "text", 2, 3),
    "replace": Function("replace", ["text", "text", "text"], "text", 3, 3),
    "concat": Function("concat", ["text"], "text", 1, 20),
    "starts_with": Function("starts_with", ["text", "text"], "boolean", 2, 2),
    "ends_with": Function("ends_with", ["text", "text"], "boolean", 2, 2),
    "days_between": Function("date_diff", ["datetime", "datetime"], "integer", 2, 2),
    "seconds_between": Function("date_diff", ["datetime", "datetime"], "integer", 2, 2),
    "years_between": Function("date_sub", ["datetime", "datetime"], "integer", 2, 2),
}
"""Name in a plan -> function. `days_between` counts midnights from the first to the second time,
`seconds_between` the starts of seconds, and `years_between` full years, as ages are."""


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Build a call by DuckDB's own name: sqlglot's typed functions are rewritten between its versions."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def group(tree: exp.Expr) -> exp.Expr:
    """Wrap a compound operand in parentheses: trees built by hand carry no precedence."""
    return (
        tree if isinstance(tree, exp.Column | exp.Literal | exp.Anonymous | exp.Cast) else exp.Paren(this=tree)
    )


def cast(tree: exp.Expr, type_: str, lenient: bool = False) -> exp.Expr:
    kind = exp.TryCast if lenient else exp.Cast
    return kind(this=tree, to=exp.DataType(this=exp.DType[type_]))


SQL_TYPES: dict[ColumnType, str] = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
    "datetime": "TIMESTAMP",
}
