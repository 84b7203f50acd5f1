"""Plans for goals that ask for rows that do not fit the others, or for groups of similar rows."""

from collections.abc import Callable

from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions
from app.agents.goals.row_search import (
    RowSearch,
    asks_for_similar_rows,
    asks_for_unusual_rows,
    asks_to_form_groups,
    read_row_groups,
    read_unusual_rows,
)
from app.agents.goals.tables.profiles import TableProfile, mentioned_tables
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.plan_conditions import find_row_conditions
from app.agents.planner.planner_facts import Situation
from app.agents.planner.step_descriptions import describe_steps
from app.agents.runtime.offline_policy import AgentAction, finish

_CONFIDENCE = 0.85
"""Confidence in a search that the words of the goal ask for: they hardly mean anything else."""


def plan_unusual_rows(situation: Situation) -> AgentAction | None:
    """Plan the search for a goal that asks for unusual rows, unless a column or a value marks them."""
    if situation.preferences.implies_model:
        return None
    if not asks_for_unusual_rows(situation.goal.text, situation.tables):
        return None
    return _plan(situation, read_unusual_rows)


def plan_asked_groups(situation: Situation) -> AgentAction | None:
    """Plan the search for a goal that asks outright for groups to be formed."""
    if situation.preferences.implies_model:
        return None
    if not asks_to_form_groups(situation.goal.text, situation.tables):
        return None
    return _plan(situation, read_row_groups)


def plan_row_groups(situation: Situation) -> AgentAction | None:
    """Plan the search for a goal that explores the tables and asks for groups of rows."""
    if not (situation.is_overview and asks_for_similar_rows(situation.goal.text)):
        return None
    return _plan(situation, read_row_groups)


def _choose_table(situation: Situation) -> TableProfile | None:
    """Return the table that the goal names, or the one with the most rows; None without any columns."""
    tables = [table for table in situation.tables if table.columns]
    candidates = mentioned_tables(tables, situation.goal.text) or tables
    return max(candidates, key=lambda table: table.rows, default=None)


def _plan(situation: Situation, read_search: Callable[[str, TableProfile], RowSearch]) -> AgentAction | None:
    """Plan the search that a goal asks for in one table; None where no table has columns."""
    table = _choose_table(situation)
    if table is None:
        return None
    search = read_search(situation.goal.text, table)
    conditions = _find_conditions(situation, table, search)
    rows = f", where {describe_conditions(conditions)}" if conditions else ""
    message = f"I will look for {search.describe(table.name)}{rows}."
    others = len(situation.tables) - 1
    plan = Plan(
        question=situation.goal.text,
        row_search=search,
        filter=conditions,
        tables=[table.name],
        target=search.focus or table.columns[0].name,
        notes=["Name another table to look at its rows."] if others else [],
        understanding=Understanding(text=message, confidence=_CONFIDENCE),
    )
    return finish(plan.model_copy(update={"steps": describe_steps(plan)}), message=message)


def _find_conditions(situation: Situation, table: TableProfile, search: RowSearch) -> list[RowCondition]:
    """Return the conditions on the rows; none on the columns by which they are compared."""
    focus = next((column for column in table.columns if column.name == search.focus), None)
    conditions = find_row_conditions(situation.goal, [table], focus)
    return [condition for condition in conditions if condition.column not in (*search.columns, search.focus)]
