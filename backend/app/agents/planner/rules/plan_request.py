"""The request of a plan: the goal with what the user answered about it."""

from collections.abc import Iterator

from app.agents.goals.columns.target import ScoredColumn
from app.agents.goals.tables.profiles import Column
from app.agents.planner import clarification
from app.agents.planner.plan import PlanRequest
from app.agents.planner.planner_facts import Situation
from app.agents.planner.preferences import PlanPreferences


def make_plan_request(situation: Situation, target: ScoredColumn) -> PlanRequest:
    return PlanRequest(
        goal=situation.settled_goal,
        tables=situation.tables,
        target=target,
        preferences=_preferences_with_answers(situation),
        kind_answer=situation.kind_answer,
        entities_answer=situation.entities_answer,
        bound_answer=situation.bound_answer,
        answered_rows=[*filter(None, (situation.bound_condition, situation.rows_answer))],
        notes=[*situation.resolved.notes, *_open_row_notes(situation)],
    )


def _open_row_notes(situation: Situation) -> Iterator[str]:
    """Yield notes on values of several columns where nobody can be asked which is meant."""
    if situation.answer_to(clarification.WHICH_ROWS) is None:
        for conditions in situation.open_rows:
            names = " and of ".join(f"`{condition.column}`" for condition in conditions)
            yield f"{conditions[0].values[0]!r} is a value of {names}, so it selects no rows."


def _preferences_with_answers(situation: Situation) -> PlanPreferences:
    """Return the preferences with the user's answers about time and dates."""
    preferences = situation.preferences
    if time_column := situation.answer_to(clarification.WHICH_TIME):
        preferences = preferences.model_copy(update={"time_column": time_column})
    if date_order := situation.date_order_answer:
        orders = {column.name: date_order for column in find_ambiguous_dates(situation)}
        types = {**orders, **preferences.column_types}
        preferences = preferences.model_copy(update={"column_types": types})
    return preferences


def find_ambiguous_dates(situation: Situation) -> list[Column]:
    if situation.target is None:
        return []
    settled_columns = {*situation.preferences.column_types, *situation.preferences.exclude}
    return [
        column
        for column in situation.target.table.columns
        if column.is_date_order_open and column.name not in settled_columns
    ]
