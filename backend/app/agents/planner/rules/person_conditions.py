"""Conditions of goals about persons: on their transactions, and on the columns of their own table."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.goal import Goal
from app.agents.goals.persons.person_request import PersonRequest
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT, word_set
from app.agents.planner.plan_conditions import find_row_conditions

MAX_GROUPS = 30
"""Values of a column that are groups of rows: a word of many values is more often another word."""
MIN_LETTERS = 3
"""Letters of a value that a word of a goal stands for by itself."""
_TRUTHS = word_set("yes no true false none nan null other unknown")
_DENIALS = word_set("not no without except excluding but never")
_NUMBER = re.compile(rf"(?<![\w.,])(\d[\d.,]*)(?![\w%]|[- ](?:{'|'.join(SECONDS_BY_UNIT)}))", re.IGNORECASE)
"""A number that counts no days, weeks or months."""


def find_person_conditions(
    goal: Goal, request: PersonRequest, tables: Sequence[TableProfile]
) -> tuple[list[RowCondition], list[RowCondition]]:
    """Find the conditions on transactions and those on persons, whose columns the transactions do not have."""
    transactions, details = request.transactions, request.table.details if request.table else None
    # Persons and times are the tables' own: neither restricts their rows.
    structural = {transactions.person.name, transactions.time.name, *([details.key] if details else [])}
    names = [transactions.table.name, *([details.table] if details else [])]
    searched = [
        TableProfile(table.name, table.rows, tuple(c for c in table.columns if c.name not in structural))
        for name in names
        for table in tables
        if table.name == name
    ]
    conditions = find_row_conditions(goal, searched, None, of_series=True)
    conditions += _named_values(goal, searched, {condition.column for condition in conditions})
    own = {column.name for column in transactions.table.columns}
    return (
        [condition for condition in conditions if condition.column in own],
        [condition for condition in conditions if condition.column not in own],
    )


def find_unused_numbers(goal: Goal, conditions: Sequence[RowCondition]) -> list[str]:
    """List the numbers of a goal that are no horizon and no bound of a condition: "born after 1990"."""
    bounds = {str(value).removesuffix(".0") for condition in conditions for value in condition.values}
    numbers = (match[1].rstrip(".,") for match in _NUMBER.finditer(goal.text))
    return [number for number in dict.fromkeys(numbers) if not any(number in bound for bound in bounds)]


def _named_values(goal: Goal, tables: Sequence[TableProfile], bounded: set[str]) -> Iterator[RowCondition]:
    """Yield conditions on values that stand in the goal by themselves: "who will order again online"."""
    text = words(goal.text)
    for column in (column for table in tables for column in table.columns):
        values = [value for value in _groups(column) if _is_affirmed(value, text)]
        if values and column.name not in bounded and len(values) < column.distinct:
            yield RowCondition(column=column.name, values=[*values])


def _groups(column: Column) -> list[str]:
    """List the values of a column of groups that are single words."""
    if column.is_number or column.unique or not 2 <= column.distinct <= MAX_GROUPS:
        return []
    values = [str(value) for value in column.values]
    return [value for value in values if len(value) >= MIN_LETTERS and value.casefold() not in _TRUTHS]


def _is_affirmed(value: str, text: Sequence[str]) -> bool:
    """Test if a value is a word of the text without a denial before it."""
    places = [place for place, word in enumerate(text) if word == value.casefold()]
    return any(not _DENIALS & set(text[max(0, place - 2) : place]) for place in places)
