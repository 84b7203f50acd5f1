"""Columns of a SELECT that are computed from columns that must not be used."""

from collections.abc import Iterable, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from app.computations.sql_policy.sql_parsing import parse_single


def derived_columns(sql: str, excluded: Iterable[str]) -> list[str]:
    """Return the aliases that a SELECT gives to expressions of excluded columns, at any depth of subqueries.

    Names are compared without tables: a column of the same name in another table counts too. Columns that
    conditions of subqueries compare are not values of the result.
    """
    names = {name.casefold() for name in excluded}
    if not sql:
        return []
    try:
        statement = parse_single(sql)
    except SqlglotError:
        return []  # the query's own policy has parsed it, so this is a newer spelling; names still count
    aliases = list(statement.find_all(exp.Alias))
    derived: dict[str, None] = {}
    # An alias may be computed from another alias, so aliases are looked through until none is added.
    while added := [alias for alias in aliases if _is_derived(alias, names)]:
        for alias in added:
            derived[alias.alias] = None
            names.add(alias.alias.casefold())
    return list(derived)


def source_columns(sql: str) -> list[str]:
    """Return the names of the columns that a SELECT reads; none for an unreadable one."""
    try:
        statement = parse_single(sql) if sql else None
    except SqlglotError:
        return []
    return list(dict.fromkeys(column.name for column in statement.find_all(exp.Column))) if statement else []


def unnamed_columns(columns: Sequence[str], excluded: Iterable[str]) -> list[str]:
    """Return the columns without an alias whose name is an expression of an excluded column: `upper(name)`."""
    names = {name.casefold() for name in excluded}
    return [column for column in columns if "(" in column and _mentions(column, names)]


def _is_derived(alias: exp.Alias, names: set[str]) -> bool:
    if alias.alias.casefold() in names:
        return False
    columns = (column for column in alias.this.find_all(exp.Column) if not column.find_ancestor(exp.Where))
    return any(column.name.casefold() in names for column in columns)


def _mentions(expression: str, names: set[str]) -> bool:
    try:
        parsed = parse_single(expression)
    except SqlglotError:
        # Rather a column too few than one that must not be used.
        return any(name in expression.casefold() for name in names)
    return any(column.name.casefold() in names for column in parsed.find_all(exp.Column))
