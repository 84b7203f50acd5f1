"""Exclusions of a goal that leave out rows and no column: "without cancelled bookings"."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.conditions.filters import find_conditions
from app.agents.goals.conditions.states import find_states, names_column
from app.agents.goals.goal import Goal
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words


def settle_exclusions(goal: Goal, tables: Sequence[TableProfile]) -> Goal:
    """Return the goal with its exclusions parted into those of columns and those of rows."""
    of_rows = tuple(phrase for phrase in goal.excluded_phrases if _leaves_out_rows(goal, phrase, tables))
    if not of_rows:
        return goal
    of_columns = tuple(phrase for phrase in goal.excluded_phrases if phrase not in of_rows)
    return replace(goal, excluded_phrases=of_columns, excluded_rows=of_rows)


def _leaves_out_rows(goal: Goal, phrase: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a phrase says which rows are left out: by a value or a flag before a noun for rows.

    A flag alone ("without cancellations") is a column where the goal asks for a model, which may have columns
    left out, and says more of the rows where it asks for figures.
    """
    phrase_words = words(phrase)
    nouns = phrase_words[-1:]
    columns = [column for table in tables for column in table.columns]
    describes_noun = (
        len(phrase_words) > 1
        and nouns[0].endswith("s")
        and not any(names_column(nouns[0], column) for column in columns)
    )
    if not describes_noun and _asks_for_model(goal):
        return False
    if find_states(f"among not {phrase}", tables, None):
        return True
    excluded = find_conditions(f"without {phrase}", tables, None) if tables else []
    return any(condition.operator == "not_in" for condition in excluded)


def _asks_for_model(goal: Goal) -> bool:
    has_model_words = goal.after_verb or goal.lookahead or goal.outlook or goal.metric or goal.wants_drivers
    return bool(has_model_words or goal.kind or goal.input_list.phrases)
