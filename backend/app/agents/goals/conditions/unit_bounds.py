"""Bounds of a goal that their unit tells to be of another column than the target: "with 256 gb or more"."""

from collections.abc import Iterator, Sequence

from app.agents.goals.conditions.row_conditions import Operator, RowCondition
from app.agents.goals.goal import Goal
from app.agents.goals.phrases.thresholds import Threshold
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import fits_unit
from app.agents.goals.tables.units import convert, find_unit, unit_of
from app.agents.goals.words.name_parts import names_part, parts_of_name
from app.agents.goals.words.tokenizer import words


def find_unit_bounds(
    goal: Goal, tables: Sequence[TableProfile], target: Column | None
) -> Iterator[RowCondition]:
    """Yield the bound of a goal on the only other column that has its unit, if the target has another one."""
    bound = goal.threshold
    word = (bound.unit or bound.noun) if bound else None
    if bound is None or not word or (target and _may_have(target, word)):
        return
    candidates = [column for table in tables for column in table.columns if column is not target]
    columns = {column.name: column for column in candidates if column.is_number and _has_unit(column, word)}
    if len(columns) != 1:
        return
    column = next(iter(columns.values()))
    value = convert(bound.value, bound.unit, column)
    if column.spans(value):
        yield RowCondition(column=column.name, operator=_operator(bound), values=[value])


def _may_have(target: Column, word: str) -> bool:
    """Test if a target may be meant by an amount of this unit or noun."""
    return _has_unit(target, word) or (find_unit(word) is not None and fits_unit(word, target))


def _has_unit(column: Column, word: str) -> bool:
    unit, column_unit = find_unit(word), unit_of(column)
    if unit and column_unit and unit.dimension == column_unit.dimension:
        return True
    return any(names_part(word, part) for part in parts_of_name(column.name)) or word in words(column.name)


def _operator(bound: Threshold) -> Operator:
    if bound.is_inclusive:
        return "at_least" if bound.above else "at_most"
    return "above" if bound.above else "below"
