"""Expressions of columns that users write: arithmetic and functions, and no queries."""

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.computations.sql_policy.sql_parsing import parse_single

_ARITHMETIC = (exp.Binary, exp.Unary, exp.Func, exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null)


def parse_expression(text: str) -> exp.Expr | None:
    """Parse an expression of columns; None where the text is none."""
    try:
        tree = parse_single(text)
    except SqlglotError:
        return None
    is_expression = all(
        isinstance(node, _ARITHMETIC) or type(node) in (exp.Paren, exp.Case) for node in tree.walk()
    ) and any(tree.find_all(exp.Column))
    return tree if is_expression else None


def list_columns(tree: exp.Expr) -> list[str]:
    """List the names of the columns that an expression reads."""
    return [column.name for column in tree.find_all(exp.Column)]
