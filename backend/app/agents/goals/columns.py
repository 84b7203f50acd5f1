"""Columns that a goal names in passing: to leave out, to group by, to order by."""

from collections.abc import Sequence

from app.agents.goals.goal import Goal
from app.agents.goals.roles import described, is_entity
from app.agents.goals.stemming import same_meaning, stems, words
from app.agents.goals.tables import Column, Table
from app.modeling.problem.goal_hints import mentions_new_entities

_BIRTH = {"birth", "birthday", "birthdate", "born", "dob", "geburt", "geburtsdatum"}
_IDENTIFIERS = {"id", "ids", "identifier", "identifiers", "index", "key"}


def named(phrase: str, columns: Sequence[Column]) -> list[str]:
    """Columns that a phrase such as `the cabin` or `ids` means; empty when it means none."""
    said, said_stems = words(phrase), set(stems(phrase))
    exact = [column.name for column in columns if words(column.name) == said]
    if exact:
        return exact
    if _IDENTIFIERS & set(said):
        return [c.name for c in columns if c.hint == "id" or _IDENTIFIERS & set(words(c.name))]
    parts = [
        c.name for c in columns if (own := set(stems(c.name))) and (own <= said_stems or said_stems <= own)
    ]
    return parts or [c.name for c in columns if _means_the_same(stems(c.name), stems(phrase))]


def _means_the_same(name: Sequence[str], said: Sequence[str]) -> bool:
    """One word by another: `year` is `yr`."""
    return len(name) == len(said) == 1 and same_meaning(name[0], said[0])


def excluded(goal: Goal, table: Table, target: str) -> tuple[list[str], list[str]]:
    """Columns that the goal forbids, and phrases of it that match no column."""
    names: list[str] = []
    unknown: list[str] = []
    for phrase in goal.excluded:
        found = [name for name in named(phrase, table.columns) if name != target]
        names += [name for name in found if name not in names]
        if not found:
            unknown.append(phrase)
    return names, unknown


def group_column(goal: Goal, table: Table, target: str) -> str | None:
    """The column whose unseen values the model must work for."""
    if mentions_new_entities(goal.text):
        for name, role in described(goal.roles, table.columns).items():
            if role.is_entity and name != target:
                return name
    for phrase in goal.groups:
        for name in named(phrase, table.columns):
            column = table.column(name)
            if name != target and column and 1 < column.distinct < table.rows:
                return name
    return None


def time_column(goal: Goal, table: Table, wants_order: bool) -> str | None:
    """The column that orders the rows: the one that is named, or the only date when order matters."""
    if goal.time:
        for name in named(goal.time, table.columns):
            return name
    dates = moments(goal, table)
    return dates[0].name if wants_order and dates else None


def moments(goal: Goal, table: Table) -> list[Column]:
    """Date columns that may order the rows, the likeliest first: as the goal says, and no birthday."""
    said = {name for name, role in described(goal.roles, table.columns).items() if role.is_time}
    dates = [column for column in table.dates if not _BIRTH & set(words(column.name))]
    return [column for column in dates if column.name in said] or dates


def entity(table: Table, target: str) -> Column | None:
    """The column that names who or what has several rows."""
    found = [column for column in table.columns if column.name != target and is_entity(column, table.rows)]
    return found[0] if found else None


def positive_class(goal: Goal, column: Column) -> object:
    """The value of the target that the goal is about, when it says one."""
    values = {str(value).casefold(): value for value in column.top}
    if goal.positive and goal.positive.casefold() in values:
        return values[goal.positive.casefold()]
    if not column.has_few_values or column.is_number:
        return None
    said = set(words(goal.text))
    spoken = [value for text, value in values.items() if len(text) > 2 and set(words(text)) <= said]
    return spoken[0] if len(spoken) == 1 and column.distinct == 2 else None
