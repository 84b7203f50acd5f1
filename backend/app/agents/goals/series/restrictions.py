"""The rows that a forecast of a series is about: those of values that the goal names, and other conditions."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.conditions.states import yes_and_no
from app.agents.goals.goal import Goal
from app.agents.goals.periods.phrases import mentions_value
from app.agents.goals.periods.time_axis import TimeAxis
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words

FindRows = Callable[[Goal, Sequence[TableProfile], Column | None], list[RowCondition]]
"""Finds the conditions that a goal sets on the rows of some tables; without a column, it counts rows."""


@dataclass(frozen=True)
class SeriesRestrictions:
    """A goal beside the tables whose rows it may restrict.

    `times`: columns of any time axis. `spare_keys`: columns as good as a key of the series. `find_rows`: the
    words of a goal that select rows are those of models of rows too; the planner knows most of them.
    """

    goal: Goal
    table: TableProfile
    others: Sequence[TableProfile]
    axis: TimeAxis
    times: Collection[str]
    spare_keys: Collection[str]
    find_rows: FindRows

    @cached_property
    def values(self) -> dict[str, str]:
        """Values of columns of groups that the goal names: "only for the coast", "cats per week"."""
        text = self.goal.text
        # "Cancelled orders don't count" names the value of the rows that are left out.
        for phrase in self.goal.exclusions:
            text = text.replace(phrase, " ")
        goal_stems, values = [stem(word) for word in words(text)], dict[str, str]()
        for column in self.table.columns:
            if column.is_number or column.name in {*self.axis.columns, *self.spare_keys}:
                continue
            if column.hint not in ("category", "text", "boolean", "id") or isinstance(
                next(iter(column.top), None), bool
            ):
                continue
            # A yes or no is no name of rows: the `no` of "no-shows" says nothing of its column.
            if yes_and_no(column) is not None:
                continue
            texts = [str(value) for value in dict.fromkeys([*column.top, *column.examples])]
            mentioned = [value for value in texts if mentions_value(goal_stems, value)]
            if len(mentioned) == 1 and column.distinct > 1:
                values[column.name] = mentioned[0]
        return values

    def find_conditions(self, measured: Column | None) -> list[RowCondition]:
        """Find the conditions on rows; those on times are horizons, but for a beginning ("since 2019")."""
        conditions = [
            condition
            for condition in self.find_rows(self.goal, [self.table, *self.others], measured)
            if condition.column not in self.times
            or (self.axis.is_native and condition.operator in ("above", "at_least"))
        ]
        restricted = {condition.column for condition in conditions}
        return conditions + [
            RowCondition(column=name, values=[value])
            for name, value in self.values.items()
            if name not in restricted
        ]
