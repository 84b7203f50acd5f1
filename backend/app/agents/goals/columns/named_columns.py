"""Columns that a goal names besides its target: to exclude, to group by, to order by."""

from collections.abc import Sequence

from app.agents.goals.goal import Goal
from app.agents.goals.tables.column_roles import is_entity, match_roles
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.concepts import expand, share_concept
from app.agents.goals.words.signed_values import is_meant
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import SECONDS_BY_UNIT
from app.modeling.problem.goal_hints import mentions_new_entities

_BIRTH = {"birth", "birthday", "birthdate", "born", "dob", "geburt", "geburtsdatum"}
OTHERS = frozenset({"other", "others", "remaining"})
"""Words for columns of the target's kind apart from itself: "without the other scores"."""
_IDENTIFIERS = {"id", "ids", "identifier", "identifiers", "index", "key"}


_TIME_UNITS = frozenset(map(stem, SECONDS_BY_UNIT))


def match_columns(phrase: str, columns: Sequence[Column]) -> list[str]:
    """Return the columns that a phrase such as `the cabin` or `ids` means; empty if it means none."""
    phrase_words = [word for word in words(phrase) if word not in OTHERS] or words(phrase)
    phrase_stems = set(map(stem, phrase_words))
    # "Without the age" leaves out `age` and not `age_group` where both are there.
    exact = [column.name for column in columns if words(column.name) == phrase_words]
    if exact:
        return exact
    # "Without the ids" means all of them, however they are called.
    if _IDENTIFIERS & set(phrase_words):
        return [c.name for c in columns if c.hint == "id" or _IDENTIFIERS & set(words(c.name))]
    partial = [
        c.name for c in columns if (own := set(stems(c.name))) and (own <= phrase_stems or phrase_stems <= own)
    ]
    glued = [c.name for c in columns if len(phrase_words) == 1 and _is_glued(words(c.name), phrase_words[0])]
    return partial or glued or [c.name for c in columns if _has_same_meaning(stems(c.name), stems(phrase))]


def _is_glued(name: Sequence[str], word: str) -> bool:
    """Test for a name of a word and the mark of a key without anything between: `SITEID` of "site"."""
    return len(name) == 1 and name[0].removeprefix(word) in _IDENTIFIERS and name[0].startswith(word)


def _has_same_meaning(name: Sequence[str], phrase: Sequence[str]) -> bool:
    """Tell if two single words mean the same: one shortens the other (`yld`), or both are of one concept.

    Concepts are read by stems, as `name` and `phrase` are.
    """
    if len(name) != 1 or len(phrase) != 1:
        return False
    if expand(name[0]) == expand(phrase[0]):
        return True
    # `per day` means days of the calendar, and no `trip` of the concept of durations.
    return phrase[0] not in _TIME_UNITS and share_concept(name[0], phrase[0])


def excluded_columns(goal: Goal, table: TableProfile, target: str) -> tuple[list[str], list[str]]:
    """Return the columns that the goal excludes, and its excluding phrases that match no column."""
    names: list[str] = []
    unmatched: list[str] = []
    for phrase in goal.excluded_phrases:
        matches = [name for name in match_columns(phrase, table.columns) if name != target]
        names += [name for name in matches if name not in names]
        if not matches:
            unmatched.append(phrase)
    for name in avoided_columns(goal, table.columns):
        if name != target and name not in names:
            names.append(name)
    return names, unmatched


def avoided_columns(goal: Goal, columns: Sequence[Column]) -> list[str]:
    """Return the columns that a phrase names wholly which excludes by its place ("no gender")."""
    names = []
    for phrase in goal.avoided_phrases:
        phrase_stems = set(stems(phrase))
        names += [
            name
            for name in match_columns(phrase, columns)
            if set(stems(name)) <= phrase_stems or len(stems(name)) == 1
        ]
    return names


def group_column(goal: Goal, table: TableProfile, target: str) -> str | None:
    """Return the column for whose unseen values the model must work."""
    if mentions_new_entities(goal.text):
        for name, role in match_roles(goal.roles, table.columns).items():
            if role.is_entity and name != target:
                return name
    for phrase in goal.group_phrases:
        for name in match_columns(phrase, table.columns):
            column = table.column(name)
            # A group of one row each, or of all rows, parts nothing.
            if name != target and column and 1 < column.distinct < table.rows:
                return name
    return None


def time_column(goal: Goal, table: TableProfile, wants_order: bool) -> str | None:
    """Return the column that orders the rows: the named one, or the likeliest date if order matters."""
    if goal.time_phrase:
        for name in match_columns(goal.time_phrase, table.columns):
            return name
    dates = date_columns(goal, table)
    return dates[0].name if wants_order and dates else None


def date_columns(goal: Goal, table: TableProfile) -> list[Column]:
    """Return the date columns that may order the rows, without birthdays; only named ones, if there are any."""
    time_columns = {name for name, role in match_roles(goal.roles, table.columns).items() if role.is_time}
    dates = [column for column in table.dates if not _BIRTH & set(words(column.name))]
    return [column for column in dates if column.name in time_columns] or dates


def find_entity_column(table: TableProfile, target: str) -> Column | None:
    """Return the column that identifies entities with several rows each."""
    candidates = [column for column in table.columns if column.name != target and is_entity(column, table.rows)]
    return candidates[0] if candidates else None


def positive_class(goal: Goal, column: Column) -> bool | int | float | str | None:
    """Return the value of the target that the goal names, if it names one."""
    values: dict[str, bool | int | float | str] = {
        str(value).casefold(): value for value in column.top if isinstance(value, bool | int | float | str)
    }
    if goal.positive and goal.positive.casefold() in values:
        return values[goal.positive.casefold()]
    if not column.has_few_values or column.is_number:
        return None
    goal_words = set(words(goal.text))
    matches = [
        value
        for text, value in values.items()
        if len(text) > 2 and set(words(text)) <= goal_words and is_meant(goal.text, value, column.top)
    ]
    # "Men or women" names both classes, and so none as the positive one.
    return matches[0] if len(matches) == 1 and column.distinct == 2 else None
