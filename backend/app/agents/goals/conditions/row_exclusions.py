"""Exclusions of a goal that leave out rows and no column: "without cancelled bookings"."""

from collections.abc import Sequence
from dataclasses import replace

from app.agents.goals.conditions.filters import find_conditions
from app.agents.goals.conditions.states import find_states, names_column, row_nouns, yes_and_no
from app.agents.goals.goal import Goal
from app.agents.goals.tables.column_roles import ENTITIES
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.name_parts import parts_of_name
from app.agents.goals.words.stemming import stem, stems
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
    left out, and says more of the rows where it asks for figures. Persons are rows: "without the smokers".
    """
    phrase_words = words(phrase)
    columns = [column for table in tables for column in table.columns]
    describes_noun = len(phrase_words) > 1 and _is_noun_of_rows(phrase_words[-1], tables)
    is_kind = any(_names_persons(phrase_words, column) for column in columns)
    if not (describes_noun or is_kind) and _asks_for_model(goal):
        return False
    if find_states(f"among not {phrase}", tables, None):
        return True
    excluded = find_conditions(f"without {phrase}", tables, None) if tables else []
    return any(condition.operator == "not_in" for condition in excluded)


def _is_noun_of_rows(noun: str, tables: Sequence[TableProfile]) -> bool:
    """Test if a plural names rows: that of an identifier or a table too, but of no other column."""
    nouns = row_nouns(tables)
    is_named = any(names_column(noun, column) for table in tables for column in table.columns)
    return noun.endswith("s") and (stem(noun) in nouns or not is_named)


def _names_persons(phrase_words: Sequence[str], column: Column) -> bool:
    """Test if a plural is that of a flag which persons are called by: `smoker`, `member`."""
    if yes_and_no(column) is None or len(phrase_words) != 1 or not phrase_words[0].endswith("s"):
        return False
    name = words(column.name)
    is_person = name[-1:] != [] and (name[-1].endswith(("er", "or")) or stem(name[-1]) in ENTITIES)
    is_plural = phrase_words[0] not in name and parts_of_name(column.name)[-1:] == stems(phrase_words[0])
    return is_person and is_plural


def _asks_for_model(goal: Goal) -> bool:
    has_model_words = goal.after_verb or goal.lookahead or goal.outlook or goal.metric or goal.wants_drivers
    return bool(has_model_words or goal.kind or goal.input_list.phrases)
