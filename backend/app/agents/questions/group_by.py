"""By what a question wants its figures apart."""

import re

from app.agents.questions.query import PARTS, Condition, Group
from app.agents.questions.sentence import GAP, NotUnderstood, Sentence

_PART = "|".join(f"{part}s?" for part in PARTS) + "|day of (?:the )?week|months? of (?:the )?year"
_ONE = rf"(?:C\d+|{_PART})"
_SIDE = "(?:top|bottom|best|worst|highest|lowest|largest|smallest|biggest)"
_LEAD = (
    r"(?:grouped by|broken down by|split by|separately for|for each|for every|in each|in every|of each|of every"
    r"|within each|with each|by each|each|every|across|by|per)(?: the| different| all| number of){0,5}"
)


def take_groups(sentence: Sentence) -> None:
    """`by class and sex`, `per month`; men and women side by side are groups too."""
    # What the top five are ranked by is no group.
    sentence.text = re.sub(rf"\b({_SIDE}(?: N\d+)? (?:{_ONE}|R)) by\b", r"\1 @", sentence.text)
    while found := sentence.take(
        rf"\b{_LEAD} (?P<all>{_ONE}(?:(?: ,| and| ,? ?by| ,? and by|,) {_ONE}){{0,20}})(?!\w)"
    ):
        for mark in _marks(found["all"]):
            sentence.groups.append(group_of(sentence, mark))
    _side_by_side(sentence)
    if len(set(sentence.groups)) < len(sentence.groups) or len(sentence.groups) > 3:
        raise NotUnderstood("It names too many groups, or one twice.")


def _marks(text: str) -> list[str]:
    parts = text.replace(" and ", " , ").replace(" by ", " , ").split(" , ")
    return [part.removeprefix("and ").removeprefix("by ").strip(" ,") for part in parts]


def group_of(sentence: Sentence, mark: str) -> Group:
    if mark[:1] == "C" and mark[1:].isdigit():
        return Group(sentence.column(mark).name)
    part = "weekday" if "week" in mark else mark.split()[0].removesuffix("s")
    return Group(sentence.date_column().name, next(known for known in PARTS if known == part))


def _is_value(condition: Condition) -> bool:
    return condition.comparison == "is" and condition.part is None and not condition.date


def _side_by_side(sentence: Sentence) -> None:
    """Two values of one column, joined: both of them, apart."""
    found = sentence.take_of(r"(?:between |both )?(?P<a>F\d+) (?:and|vs|versus|or|with|than) (?P<b>F\d+)")
    if not found:
        return
    one, other = (sentence.conditions[int(found[name][1:])] for name in "ab")
    if one.column != other.column or not (_is_value(one) and _is_value(other)):
        sentence.put(found[0])
        return
    column = next(c for c in sentence.scanned.table.columns if c.name == one.column)
    if column.distinct != 2:
        raise NotUnderstood(
            f"`{column.name}` has more than two values; ask for all of them: by `{column.name}`."
        )
    sentence.groups.append(Group(column.name))
    sentence.put(GAP)
