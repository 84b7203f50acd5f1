"""The assumption about entities that repeat: will the model meet new ones, or those that it was trained on?"""

from dataclasses import dataclass
from typing import Literal

from app.agents.goals import columns
from app.agents.goals.tables import Column
from app.agents.planner.planner_facts import Situation
from app.modeling.problem.goal_hints import mentions_future, mentions_new_entities

MIN_KNOWN_ENTITY_ROWS = 20
"""Mean rows per entity from which new rows are assumed to be about known entities."""


_CONSEQUENCES = {
    "new": "the model is validated on values that it was not trained on. Say that you know them if it will meet"
    " the same ones",
    "known": "the model may learn from their earlier rows. Say that they are new if it will meet others",
}


@dataclass(frozen=True)
class EntityAssumption:
    """The column that identifies entities with several rows each, and which of them are expected."""

    column: Column
    rows_per_value: float

    @property
    def meets(self) -> Literal["new", "known"]:
        return "known" if self.rows_per_value >= MIN_KNOWN_ENTITY_ROWS else "new"

    @property
    def note(self) -> str:
        """The assumption and how to change it."""
        name, distinct = self.column.name, self.column.distinct
        rows = f"{self.rows_per_value:.1f} rows each"
        return f"`{name}` has {distinct:,} values, {rows}: {_CONSEQUENCES[self.meets]}."


def assume_entities(situation: Situation) -> EntityAssumption | None:
    """Return the assumption about entities; None if none repeat, or the goal says which are meant."""
    target, goal, preferences = situation.target, situation.goal, situation.preferences
    if target is None or preferences.group_column or situation.entities_answer:
        return None
    is_settled = mentions_new_entities(goal.text) is not None or mentions_future(goal.text)
    if is_settled or goal.group_phrases or goal.lookahead or goal.outlook:
        return None
    excluded, _ = columns.excluded_columns(goal, target.table, target.column.name)
    column = columns.find_entity_column(target.table, target.column.name)
    if column is None or column.name in {*preferences.exclude, *excluded}:
        return None
    return EntityAssumption(column, target.table.rows / column.distinct)
