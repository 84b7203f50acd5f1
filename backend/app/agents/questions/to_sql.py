"""Translation of a parsed question to one SELECT.

Names and texts are quoted here, and the SELECT is parsed and admitted again where it runs.
"""
# ruff: noqa: S608 - made of quoted names, quoted texts and numbers only

from collections.abc import Callable, Mapping, Sequence

from app.agents.goals.select_sql import quote_identifier
from app.agents.questions.query import Aggregate, Cell, Condition, GroupKey, ParsedQuestion

_SIGNS = {"is": "=", "is not": "<>", "above": ">", "at least": ">=", "below": "<", "at most": "<="}
_PARTS = {
    "year": "year({})",
    "quarter": "quarter({})",
    "month": "monthname({})",
    "weekday": "dayname({})",
    "day": "day({})",
    "hour": "hour({})",
}
_ORDERED_BY = {"month": "month({})", "weekday": "isodow({})"}
"""Sort keys of date parts whose names do not sort alphabetically."""

Sql = Callable[[Sequence[str], Aggregate], str]

_FUNCTIONS: Mapping[str, Sql] = {
    "count": lambda _, __: "count(*)",
    "mean": lambda names, _: f"avg({names[0]})",
    "median": lambda names, _: f"median({names[0]})",
    "total": lambda names, _: f"sum({names[0]})",
    "highest": lambda names, _: f"max({names[0]})",
    "lowest": lambda names, _: f"min({names[0]})",
    "spread": lambda names, _: f"stddev_samp({names[0]})",
    "percentile": lambda names, measure: f"quantile_cont({names[0]}, {measure.percent / 100:g})",
    "different": lambda names, _: f"count(DISTINCT {names[0]})",
    "missing": lambda names, _: f"count(*) - count({names[0]})",
    "missing_share": lambda names, _: f"(count(*) - count({names[0]})) / count(*)",
    "correlation": lambda names, _: f"corr({names[0]}, {names[1]})",
    "commonest": lambda names, _: f"mode({names[0]})",
    "share": lambda _, measure: f"avg(CASE WHEN {_all_conditions(measure.conditions)} THEN 1.0 ELSE 0.0 END)",
}
_OF_NULLS = frozenset({"count", "missing", "missing_share", "share"})
"""Functions that also count rows without a value."""


def make_select(question: ParsedQuestion) -> str:
    """Make the SELECT. Missing values are excluded explicitly, so that the used rows can be counted."""
    groups = [_key_sql(group) for group in question.groups]
    expressions = [f"{sql} AS {quote_identifier(alias)}" for sql, alias in groups]
    expressions += [
        f"{_aggregate_sql(measure)} AS {quote_identifier(column_alias(measure))}"
        for measure in question.measures
    ]
    if question.is_share:
        expressions.append('count(*) / sum(count(*)) OVER () AS "share"')
    return (
        f"SELECT {', '.join(expressions)} FROM {quote_identifier(question.table)}"
        f"{_where_clause(question)}{_group_by_clause(groups)}{_order_by_clause(question, groups)}"
        f"{f' LIMIT {question.limit}' if question.limit else ''}"
    )


def column_alias(measure: Aggregate) -> str:
    """Return the column name of an aggregate in the answer's table and in its report."""
    name = " and ".join(measure.columns)
    match measure.function:
        case "count":
            return "rows"
        case "share":
            return f"share where {' and '.join(map(describe_condition, measure.conditions))}".replace("`", "")
        case "percentile":
            return f"{measure.percent:g} % quantile of {name}"
        case "different":
            return f"different values of {name}"
        case "missing":
            return f"missing in {name}"
        case "missing_share":
            return f"share missing in {name}"
        case "spread":
            return f"standard deviation of {name}"
        case "commonest":
            return f"commonest {name}"
        case function:
            return f"{function} {name}" if function in ("highest", "lowest") else f"{function} of {name}"


def describe_condition(condition: Condition) -> str:
    """Describe a condition in words that parse as the same condition."""
    if condition.comparison in ("known", "unknown"):
        return f"`{condition.column}` is {condition.comparison}"
    column = f"the {condition.part} of `{condition.column}`" if condition.part else f"`{condition.column}`"
    verb = condition.comparison if condition.comparison in ("is", "is not") else f"is {condition.comparison}"
    value = condition.value
    text = f'"{value}"' if isinstance(value, str) and not condition.date else _number(value)
    return f"{column} {verb} {text}"


def _number(value: Cell | None) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _aggregate_sql(measure: Aggregate) -> str:
    return _FUNCTIONS[measure.function]([quote_identifier(name) for name in measure.columns], measure)


def _key_sql(group: GroupKey) -> tuple[str, str]:
    """Return the SQL expression of a group key and its column name."""
    if group.part is None:
        return quote_identifier(group.column), group.column
    return _PARTS[group.part].format(quote_identifier(group.column)), group.part


def _where_clause(question: ParsedQuestion) -> str:
    of_each = [_tested_columns(m) if m.function in _OF_NULLS else [*m.columns] for m in question.measures]
    shared = of_each[0] if all(names == of_each[0] for names in of_each) else []
    not_null = [f"{quote_identifier(name)} IS NOT NULL" for name in shared]
    if question.is_listing or question.limit:
        not_null += [f"{quote_identifier(group.column)} IS NOT NULL" for group in question.groups]
    parts = list(dict.fromkeys([*map(_condition_sql, question.conditions), *not_null]))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _tested_columns(measure: Aggregate) -> list[str]:
    """Return the columns of a share's conditions. Rows without a value in them count neither way."""
    return [c.column for c in measure.conditions if c.comparison not in ("known", "unknown")]


def _all_conditions(conditions: Sequence[Condition]) -> str:
    return " AND ".join(map(_condition_sql, conditions))


def _condition_sql(condition: Condition) -> str:
    name = quote_identifier(condition.column)
    if condition.comparison in ("known", "unknown"):
        return f"{name} IS {'NOT ' if condition.comparison == 'known' else ''}NULL"
    tested = _PARTS[condition.part].format(name) if condition.part else name
    return f"{tested} {_SIGNS[condition.comparison]} {_literal(condition)}"


def _literal(condition: Condition) -> str:
    value = condition.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    text = "'" + str(value).replace("'", "''") + "'"
    return f"TIMESTAMP {text}" if condition.date else text


def _group_by_clause(groups: Sequence[tuple[str, str]]) -> str:
    return f" GROUP BY {', '.join(sql for sql, _ in groups)}" if groups else ""


def _order_by_clause(question: ParsedQuestion, groups: Sequence[tuple[str, str]]) -> str:
    if not groups:
        return ""
    names = [quote_identifier(name) for _, name in groups]
    if question.limit or question.is_listing or question.is_share:
        direction = "DESC" if question.descending else "ASC"
        return (
            f" ORDER BY {quote_identifier(column_alias(question.measures[0]))} {direction}, {', '.join(names)}"
        )
    keys = [
        f"any_value({_ORDERED_BY[group.part].format(quote_identifier(group.column))})"
        if group.part in _ORDERED_BY
        else name
        for group, name in zip(question.groups, names, strict=True)
    ]
    return f" ORDER BY {', '.join(keys)}"
