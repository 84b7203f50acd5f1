"""A question said in words that are read as the same question again."""

from collections.abc import Sequence

from app.agents.goals.tables import Column, Table
from app.agents.questions.query import Condition, Group, Inquiry, Measure
from app.agents.questions.to_sql import condition_words
from app.agents.questions.tokenizer import flag_values

_NAMES = {"spread": "standard deviation"}


def spoken(inquiry: Inquiry, of_table: bool = False) -> str:
    where = f" where {_all(inquiry.conditions)}" if inquiry.conditions else ""
    table = f" in `{inquiry.table}`" if of_table else ""
    return f"{_asked(inquiry)}{where}{table}"


def _asked(inquiry: Inquiry) -> str:
    groups = " and ".join(map(_group, inquiry.groups))
    measure = inquiry.measures[0]
    if inquiry.of_whole:
        return f"the share of rows by {groups}"
    if inquiry.listing:
        return f"the different values of {groups}"
    if inquiry.most:
        side = "top" if inquiry.descending else "bottom"
        return f"the {side} {inquiry.most} {groups} by {_ranked(measure)}"
    listed = " and ".join(_measure(each) for each in inquiry.measures)
    if len(inquiry.measures) > 1:
        listed = _several(inquiry.measures) or listed
    return f"the {listed}{f' by {groups}' if groups else ''}"


def _several(measures: Sequence[Measure]) -> str:
    functions = list(dict.fromkeys(_NAMES.get(m.function, m.function) for m in measures))
    names = list(dict.fromkeys(name for m in measures for name in m.columns))
    if measures[0].function == "missing":
        return f"missing values in {' and '.join(f'`{name}`' for name in names)}"
    return f"{' and '.join(functions)} of {' and '.join(f'`{name}`' for name in names)}"


def _ranked(measure: Measure) -> str:
    """A share that rows are ranked by is the rate of a yes or no."""
    if measure.function == "share":
        return f"`{measure.conditions[0].column}` rate"
    return _measure(measure).replace(" of `", " `") if measure.function != "different" else _measure(measure)


def _measure(measure: Measure) -> str:
    names = " and ".join(f"`{name}`" for name in measure.columns)
    match measure.function:
        case "count":
            return "number of rows"
        case "different":
            return f"number of different {names}"
        case "missing":
            return f"number of missing values in {names}"
        case "missing_share":
            return f"share of missing values in {names}"
        case "percentile":
            return f"{measure.percent:g} percentile of {names}"
        case "share":
            return f"share of rows where {_all(measure.conditions)}"
        case "commonest":
            return f"most common {names}"
        case "correlation":
            return f"correlation of {names}"
        case function:
            return f"{_NAMES.get(function, function)} of {names}"


def _group(group: Group) -> str:
    return group.part or f"`{group.column}`"


def _all(conditions: Sequence[Condition]) -> str:
    return " and ".join(map(condition_words, conditions))


def examples(table: Table) -> tuple[str, ...]:
    """A few questions that this table can be asked, its first columns first."""
    numbers = [
        c for c in table.columns if c.is_number and not c.as_text and c.hint == "numeric" and c.distinct > 2
    ]
    classes = [c for c in table.columns if _is_class(c)]
    flags = [c for c in table.columns if flag_values(c)]
    found = ["the number of rows"]
    if numbers:
        by = f" by `{classes[0].name}`" if classes else ""
        found.insert(0, f"the mean of `{numbers[0].name}`{by}")
    if classes:
        found.append(f"the number of rows by `{classes[0].name}`")
    if flags:
        no_yes = flag_values(flags[0]) or (0, 1)
        value = f'"{no_yes[1]}"' if isinstance(no_yes[1], str) else str(no_yes[1])
        found.append(f"the share of rows where `{flags[0].name}` is {value}")
    return tuple(found)


def _is_class(column: Column) -> bool:
    return column.hint in ("category", "boolean") and 2 <= column.distinct <= 20 and not column.is_number
