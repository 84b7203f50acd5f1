"""The columns that a goal lists as its inputs, so that a model of it has no others."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.columns.ranking import MIN_MEANT_PROBABILITY, likeliest_column
from app.agents.goals.goal import Goal
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.tables.topics import find_topic_columns
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import FUNCTION_WORDS, word_set

_NAMING_NOTHING = FUNCTION_WORDS | word_set(
    "his her their its value values level levels reading readings number"
)
"""Words of a phrase that no name of a column needs to hold."""


@dataclass(frozen=True)
class NamedInputs:
    """The inputs that a goal lists: names of columns, and phrases that name none."""

    columns: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()

    @property
    def are_all(self) -> bool:
        """True if the goal lists inputs, and each is a column: then it means no others."""
        return bool(self.columns) and not self.unmatched


def find_named_inputs(goal: Goal, tables: Sequence[TableProfile], target: str) -> NamedInputs:
    """Find the columns that a goal lists as inputs. What a forecast or an explanation lists are no limits."""
    if goal.lookahead or goal.outlook or goal.wants_drivers:
        return NamedInputs()
    columns: list[str] = []
    unmatched: list[str] = []
    for phrase in goal.input_list.phrases:
        matches = _match_phrase(phrase, tables, target)
        columns += [name for name in matches if name not in columns]
        unmatched += [] if matches else [phrase]
    if columns and not goal.input_list.is_exclusive:
        columns += [name for name in _columns_of_target(goal, tables, target) if name not in columns]
    return NamedInputs(tuple(columns), tuple(unmatched))


def _columns_of_target(goal: Goal, tables: Sequence[TableProfile], target: str) -> list[str]:
    """Return the columns that say what the target is of: "units of a product in a store, given its price"."""
    own, text = set(stems(target)), set(stems(goal.target_text))
    names = ((column.name, set(stems(column.name))) for table in tables for column in table.columns)
    return [name for name, parts in names if parts and parts <= text and not parts <= own]


def _match_phrase(phrase: str, tables: Sequence[TableProfile], target: str) -> list[str]:
    """Return the columns that a phrase names by all its words, or else the one that it probably means."""
    content = {stem(word) for word in words(phrase) if word not in _NAMING_NOTHING}
    # "From the orders" names the table of the inputs, and none of them.
    if not content or any(content <= set(stems(table.subject)) for table in tables):
        return []
    for find in (_named_columns, _columns_of_topic, _meant_columns):
        names = [name for table in tables for name in find(phrase, content, table, target)]
        if names:
            return names
    return []


def _named_columns(phrase: str, content: set[str], table: TableProfile, target: str) -> list[str]:
    names = [name for name in match_columns(phrase, table.columns) if name != target]
    is_explained = len(content) == 1 or content <= {part for name in names for part in stems(name)}
    return names if is_explained else []


def _columns_of_topic(phrase: str, content: set[str], table: TableProfile, target: str) -> list[str]:
    return find_topic_columns(content, [column for column in table.columns if column.name != target])


def _meant_columns(phrase: str, content: set[str], table: TableProfile, target: str) -> list[str]:
    candidates = [column for column in table.columns if column.name != target]
    likeliest = likeliest_column(parse_goal(f"Predict the {phrase}"), table, candidates, MIN_MEANT_PROBABILITY)
    return [likeliest.name] if likeliest else []
