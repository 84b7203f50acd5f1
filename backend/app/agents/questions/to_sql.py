"""A question as one SELECT. Names and texts are quoted here, and the SELECT is admitted again where it runs."""
# ruff: noqa: S608 - made of quoted names, quoted texts and numbers only

from collections.abc import Callable, Mapping, Sequence

from app.agents.goals.select_sql import quoted
from app.agents.questions.query import Cell, Condition, Group, Inquiry, Measure

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
"""Names of which the alphabet is not the order."""

Sql = Callable[[Sequence[str], Measure], str]

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
    "share": lambda _, measure: f"avg(CASE WHEN {_all(measure.conditions)} THEN 1.0 ELSE 0.0 END)",
}
_OF_NULLS = frozenset({"count", "missing", "missing_share", "share"})
"""Functions to which a row without a value is a row too."""


def select(inquiry: Inquiry) -> str:
    """Rows in which what is measured is missing are left out by name, so that the rows used can be counted."""
    groups = [_group(group) for group in inquiry.groups]
    shown = [f"{sql} AS {quoted(alias)}" for sql, alias in groups]
    shown += [f"{_measured(measure)} AS {quoted(alias(measure))}" for measure in inquiry.measures]
    if inquiry.of_whole:
        shown.append('count(*) / sum(count(*)) OVER () AS "share"')
    return (
        f"SELECT {', '.join(shown)} FROM {quoted(inquiry.table)}"
        f"{_where(inquiry)}{_grouped(groups)}{_ordered(inquiry, groups)}"
        f"{f' LIMIT {inquiry.most}' if inquiry.most else ''}"
    )


def alias(measure: Measure) -> str:
    """What a figure is called, in the answer's table and in its report."""
    name = " and ".join(measure.columns)
    match measure.function:
        case "count":
            return "rows"
        case "share":
            return f"share where {' and '.join(map(condition_words, measure.conditions))}".replace("`", "")
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


def condition_words(condition: Condition) -> str:
    """A condition as it can be said and read again."""
    if condition.comparison in ("known", "unknown"):
        return f"`{condition.column}` is {condition.comparison}"
    column = f"the {condition.part} of `{condition.column}`" if condition.part else f"`{condition.column}`"
    verb = condition.comparison if condition.comparison in ("is", "is not") else f"is {condition.comparison}"
    value = condition.value
    told = f'"{value}"' if isinstance(value, str) and not condition.date else _number(value)
    return f"{column} {verb} {told}"


def _number(value: Cell | None) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _measured(measure: Measure) -> str:
    return _FUNCTIONS[measure.function]([quoted(name) for name in measure.columns], measure)


def _group(group: Group) -> tuple[str, str]:
    """The expression of a group, and what it is called."""
    if group.part is None:
        return quoted(group.column), group.column
    return _PARTS[group.part].format(quoted(group.column)), group.part


def _where(inquiry: Inquiry) -> str:
    of_each = [_tested(m) if m.function in _OF_NULLS else [*m.columns] for m in inquiry.measures]
    shared = of_each[0] if all(names == of_each[0] for names in of_each) else []
    needed = [f"{quoted(name)} IS NOT NULL" for name in shared]
    if inquiry.listing or inquiry.most:
        needed += [f"{quoted(group.column)} IS NOT NULL" for group in inquiry.groups]
    parts = list(dict.fromkeys([*map(_tested_by, inquiry.conditions), *needed]))
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _tested(measure: Measure) -> list[str]:
    """Columns that a share asks about: of a row without their value nobody knows."""
    return [c.column for c in measure.conditions if c.comparison not in ("known", "unknown")]


def _all(conditions: Sequence[Condition]) -> str:
    return " AND ".join(map(_tested_by, conditions))


def _tested_by(condition: Condition) -> str:
    name = quoted(condition.column)
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


def _grouped(groups: Sequence[tuple[str, str]]) -> str:
    return f" GROUP BY {', '.join(sql for sql, _ in groups)}" if groups else ""


def _ordered(inquiry: Inquiry, groups: Sequence[tuple[str, str]]) -> str:
    if not groups:
        return ""
    names = [quoted(name) for _, name in groups]
    if inquiry.most or inquiry.listing or inquiry.of_whole:
        way = "DESC" if inquiry.descending else "ASC"
        return f" ORDER BY {quoted(alias(inquiry.measures[0]))} {way}, {', '.join(names)}"
    keys = [
        f"any_value({_ORDERED_BY[group.part].format(quoted(group.column))})"
        if group.part in _ORDERED_BY
        else name
        for group, name in zip(inquiry.groups, names, strict=True)
    ]
    return f" ORDER BY {', '.join(keys)}"
