"""Paraphrases of parsed questions, which parse as the same question again."""

from collections.abc import Sequence

from app.agents.goals.tables import Column, TableProfile
from app.agents.questions.marking import flag_values
from app.agents.questions.query import Aggregate, Condition, GroupKey, ParsedQuestion
from app.agents.questions.to_sql import describe_condition

_NAMES = {"spread": "standard deviation"}


def paraphrase(question: ParsedQuestion, of_table: bool = False) -> str:
    where = f" where {_join_conditions(question.conditions)}" if question.conditions else ""
    table = f" in `{question.table}`" if of_table else ""
    return f"{_paraphrase_aggregates(question)}{where}{table}"


def _paraphrase_aggregates(question: ParsedQuestion) -> str:
    groups = " and ".join(map(_key_name, question.groups))
    measure = question.measures[0]
    if question.is_share:
        return f"the share of rows by {groups}"
    if question.is_listing:
        return f"the different values of {groups}"
    if question.limit:
        side = "top" if question.descending else "bottom"
        return f"the {side} {question.limit} {groups} by {_ranking_name(measure)}"
    aggregates = " and ".join(_aggregate_name(aggregate) for aggregate in question.measures)
    if len(question.measures) > 1:
        aggregates = _paraphrase_several(question.measures) or aggregates
    return f"the {aggregates}{f' by {groups}' if groups else ''}"


def _paraphrase_several(measures: Sequence[Aggregate]) -> str:
    functions = list(dict.fromkeys(_NAMES.get(m.function, m.function) for m in measures))
    names = list(dict.fromkeys(name for m in measures for name in m.columns))
    if measures[0].function == "missing":
        return f"missing values in {' and '.join(f'`{name}`' for name in names)}"
    return f"{' and '.join(functions)} of {' and '.join(f'`{name}`' for name in names)}"


def _ranking_name(measure: Aggregate) -> str:
    """Return the aggregate's name in a ranking, where a share is called a rate."""
    if measure.function == "share":
        return f"`{measure.conditions[0].column}` rate"
    return (
        _aggregate_name(measure).replace(" of `", " `")
        if measure.function != "different"
        else _aggregate_name(measure)
    )


def _aggregate_name(measure: Aggregate) -> str:
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
            return f"share of rows where {_join_conditions(measure.conditions)}"
        case "commonest":
            return f"most common {names}"
        case "correlation":
            return f"correlation of {names}"
        case function:
            return f"{_NAMES.get(function, function)} of {names}"


def _key_name(group: GroupKey) -> str:
    return group.part or f"`{group.column}`"


def _join_conditions(conditions: Sequence[Condition]) -> str:
    return " and ".join(map(describe_condition, conditions))


def example_questions(table: TableProfile) -> tuple[str, ...]:
    """Make a few example questions about a table, from its first columns."""
    numbers = [
        c
        for c in table.columns
        if c.is_number and not c.is_stored_as_text and c.hint == "numeric" and c.distinct > 2
    ]
    classes = [c for c in table.columns if _is_class(c)]
    flags = [c for c in table.columns if flag_values(c)]
    questions = ["the number of rows"]
    if numbers:
        by = f" by `{classes[0].name}`" if classes else ""
        questions.insert(0, f"the mean of `{numbers[0].name}`{by}")
    if classes:
        questions.append(f"the number of rows by `{classes[0].name}`")
    if flags:
        no_yes = flag_values(flags[0]) or (0, 1)
        value = f'"{no_yes[1]}"' if isinstance(no_yes[1], str) else str(no_yes[1])
        questions.append(f"the share of rows where `{flags[0].name}` is {value}")
    return tuple(questions)


def _is_class(column: Column) -> bool:
    return column.hint in ("category", "boolean") and 2 <= column.distinct <= 20 and not column.is_number
