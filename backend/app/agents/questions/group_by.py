"""Parsing of the GROUP BY part of a question."""

import re
from typing import NamedTuple

from app.agents.questions.query import PARTS, Condition, GroupKey
from app.agents.questions.sentence import GAP, NotUnderstood, Sentence

_PART = "|".join(f"{part}s?" for part in PARTS) + "|day of (?:the )?week|months? of (?:the )?year"
_KEY = rf"(?:C\d+|{_PART})"
_EXTREME = "(?:top|bottom|best|worst|highest|lowest|largest|smallest|biggest)"
_GROUP_PREFIX = (
    r"(?:grouped by|broken down by|split by|separately for|for each|for every|in each|in every|of each|of every"
    r"|within each|with each|by each|each|every|across|by|per)(?: the| different| all| number of){0,5}"
)


def parse_groups(sentence: Sentence) -> None:
    """Parse groups: `by class and sex`, `per month`, and two values compared (men and women)."""
    # In "the top five by fare" the column after `by` is a ranking, not a group.
    sentence.text = re.sub(rf"\b({_EXTREME}(?: N\d+)? (?:{_KEY}|R)) by\b", r"\1 @", sentence.text)
    while match := sentence.take(
        rf"\b{_GROUP_PREFIX} ({_KEY}(?:(?: ,| and| ,? ?by| ,? and by|,) {_KEY}){{0,20}})(?!\w)"
    ):
        for mark in _marks(match[1]):
            sentence.groups.append(make_group_key(sentence, mark))
    _parse_compared_values(sentence)
    if len(set(sentence.groups)) < len(sentence.groups) or len(sentence.groups) > 3:
        raise NotUnderstood("It names too many groups, or one twice.")


def _marks(text: str) -> list[str]:
    parts = text.replace(" and ", " , ").replace(" by ", " , ").split(" , ")
    return [part.removeprefix("and ").removeprefix("by ").strip(" ,") for part in parts]


def make_group_key(sentence: Sentence, mark: str) -> GroupKey:
    if mark[:1] == "C" and mark[1:].isdigit():
        return GroupKey(sentence.column(mark).name)
    part = "weekday" if "week" in mark else mark.split()[0].removesuffix("s")
    return GroupKey(sentence.date_column().name, next(name for name in PARTS if name == part))


def _is_value(condition: Condition) -> bool:
    return condition.comparison == "is" and condition.part is None and not condition.date


class _ComparedGroups(NamedTuple):
    """The marks of two compared conditions, and the text of the comparison."""

    text: str
    first: str
    second: str


def _parse_compared_values(sentence: Sentence) -> None:
    """Parse two values of one column that are compared as groups of that column."""
    compared = sentence.take_in_place(
        r"(?P<text>(?:between |both )?(?P<first>F\d+) (?:and|vs|versus|or|with|than) (?P<second>F\d+))",
        _ComparedGroups,
    )
    if not compared:
        return
    first, second = (sentence.conditions[int(mark[1:])] for mark in (compared.first, compared.second))
    if first.column != second.column or not (_is_value(first) and _is_value(second)):
        sentence.fill(compared.text)
        return
    column = next(c for c in sentence.question.table.columns if c.name == first.column)
    if column.distinct != 2:
        raise NotUnderstood(
            f"`{column.name}` has more than two values; ask for all of them: by `{column.name}`."
        )
    sentence.groups.append(GroupKey(column.name))
    sentence.fill(GAP)
