"""Values that several columns have: of "Rovers home games" the team at home is meant, and not both teams."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.words.name_parts import names_part, parts_of_name
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

MAX_DISTANCE = 3
"""Words before or behind a value that may tell its column: "Rovers' next home games"."""
_ENDS = (
    (word_set("from leaving left"), word_set("from origin orig source src start departure dep pickup sender")),
    (
        word_set("to into towards reaching against"),
        word_set("to dest destination target end arrival arr dropoff receiver away opponent"),
    ),
)
"""Prepositions, and the parts of names of the end of a way that they tell."""


class ValueMention(NamedTuple):
    """A value of a goal by its tokens, and the condition that it is one of a column."""

    condition: RowCondition
    start: int
    end: int


class SettledMentions(NamedTuple):
    """Conditions of mentions that mean one column, and those among which the goal does not choose."""

    conditions: list[RowCondition]
    open: list[tuple[RowCondition, ...]]


def settle_mentions(mentions: Iterable[ValueMention], tokens: Sequence[str]) -> SettledMentions:
    """Choose one column for each mention. A value that is left out is left out of every column."""
    by_place: dict[tuple[int, int, str], list[ValueMention]] = {}
    for mention in mentions:
        value = str(mention.condition.values[0]).casefold()
        by_place.setdefault((mention.start, mention.end, value), []).append(mention)
    parted = SettledMentions([], [])
    for alike in by_place.values():
        conditions = [mention.condition for mention in alike]
        if len({condition.column for condition in conditions}) == 1 or conditions[0].operator == "not_in":
            parted.conditions.extend(conditions)
        elif (condition := _named_beside(alike, tokens)) is not None:
            parted.conditions.append(condition)
        else:
            parted.open.append(tuple(conditions))
    return parted


def _named_beside(mentions: Sequence[ValueMention], tokens: Sequence[str]) -> RowCondition | None:
    """Return the only condition whose column is named beside the value, by what tells it from the others."""
    start, end = mentions[0].start, mentions[0].end
    before, behind = tokens[max(0, start - MAX_DISTANCE) : start], tokens[end : end + MAX_DISTANCE]
    names = [parts_of_name(mention.condition.column) for mention in mentions]
    shared = set(names[0]).intersection(*names[1:])
    candidates = [
        mention.condition
        for mention, name in zip(mentions, names, strict=True)
        if any(names_part(token, part) for part in name if part not in shared for token in (*before, *behind))
        or _is_end(mention.condition.column, before)
    ]
    return candidates[0] if len(candidates) == 1 else None


def _is_end(column: str, before: Sequence[str]) -> bool:
    """Test if the words before a value name the end of a way that a column is: "from Rome" of `origin_city`."""
    name = {*words(column)}
    # "From Oslo to Bern": the last preposition is that of the value.
    ends = (parts for token in reversed(before) for prepositions, parts in _ENDS if token in prepositions)
    return bool(next(ends, frozenset[str]()) & name)
