"""The inputs of a plan's models: the tables and columns that the goal lists or leaves out."""

from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.columns import named_columns
from app.agents.goals.columns.meant_exclusions import MeantExclusion, find_meant_exclusions
from app.agents.goals.columns.named_inputs import NamedInputs, find_named_inputs
from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.stemming import stems


class ModelInputs(NamedTuple):
    """The tables of a model, the target's first, the columns that it must not use, and notes on both."""

    tables: tuple[TableProfile, ...]
    excluded: tuple[str, ...]
    notes: tuple[str, ...]


def choose_inputs(
    goal: Goal, tables: Sequence[TableProfile], target: str, conditions: Sequence[RowCondition]
) -> ModelInputs:
    """Choose the inputs from the tables, of which the first holds the target.

    Where the goal lists its inputs and all are columns, the model has no others.
    """
    excluded, unmatched = named_columns.excluded_columns(goal, tables[0], target)
    unmatched = _not_in_conditions(unmatched, conditions)
    meant = [*find_meant_exclusions(goal, unmatched, tables[0], target)]
    excluded += [name for entry in meant for name in entry.columns if name not in excluded]
    read = {entry.phrase for entry in meant}
    notes = [
        *(_describe_exclusion(entry) for entry in meant),
        *(
            f"The goal leaves out {phrase!r}, but no column has that name."
            for phrase in unmatched
            if phrase not in read
        ),
    ]
    inputs = find_named_inputs(goal, tables, target)
    if inputs.are_all:
        # The first table stays without an input in it: it holds the target.
        tables = [table for place, table in enumerate(tables) if not place or _holds(table, inputs)]
        excluded += [
            column.name for table in tables for column in table.columns if column.name not in inputs.columns
        ]
    elif goal.input_list.is_exclusive:
        notes += [
            f"The goal names {phrase!r} as its only input, but no column has that name: all columns are used."
            for phrase in _not_in_conditions(inputs.unmatched, conditions)
        ]
    return ModelInputs(tuple(tables), tuple(excluded), tuple(notes))


def _describe_exclusion(exclusion: MeantExclusion) -> str:
    names = " and ".join(f"`{name}`" for name in exclusion.columns)
    return f"{exclusion.phrase!r} is taken for {names}, and left out."


def _holds(table: TableProfile, inputs: NamedInputs) -> bool:
    return any(table.column(name) for name in inputs.columns)


def _not_in_conditions(phrases: Sequence[str], conditions: Sequence[RowCondition]) -> list[str]:
    """Return the phrases that name no value by which rows are chosen: "without Audi" leaves out its rows."""
    values = [set(stems(str(value))) for condition in conditions for value in condition.values]
    return [phrase for phrase in phrases if not any(value <= set(stems(phrase)) for value in values)]
