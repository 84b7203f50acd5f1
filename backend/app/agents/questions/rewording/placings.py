"""Rewording of wins, winners and podiums (`won`, `podium`) to conditions of a column of places."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.questions.tables.place_columns import holds_places

_NOUN = r"(?P<noun>[a-z]{2,30})"
_WINNING_MOST = re.compile(
    rf"^\W*(?P<ask>which|what) {_NOUN} (?:has |have )?(?:won|wins|win|finished first|came first) "
    r"(?:(?:the )?most(?: often)?(?: (?:races|times|games|matches|heats|events))?|(?:the )?most frequently)\b",
    re.IGNORECASE,
)
_LAST_MOST = re.compile(
    rf"^\W*(?:(?P<ask>which|what) {_NOUN}) (?:came|finished|was) (?:in )?last (?:the )?most(?: often)?\b",
    re.IGNORECASE,
)
_WON_BY = re.compile(
    r"\bhow (?:many|often)(?: (?:races|times|games|matches|heats|events))? (?:did|does|has|have) "
    r"(?P<each>each |every )?(?P<who>[\w' ]{2,40}?) (?:win|won)\b",
    re.IGNORECASE,
)
_WINS = re.compile(
    r"\b(?:(?P<count>(?:the )?number of|how many|total) )?(?P<noun>wins|victories|first places|podium finishes"
    r"|podium places|podiums|podium)\b",
    re.IGNORECASE,
)
_WINNERS = re.compile(r"\b(?:the )?winners?\b", re.IGNORECASE)
PODIUM = 3
"""Places on a podium."""


def reword_placings(question: str, tables: Sequence[TableProfile]) -> str:
    """Say of wins and podiums which place they are, where one column holds places from 1 on."""
    columns = [column for table in tables for column in table.columns if holds_places(column)]
    column_words = {word for table in tables for column in table.columns for word in words(column.name)}
    if len(columns) != 1 or {"win", "wins", "won", "winner"} & column_words:
        return question
    place = f"`{columns[0].name}`"
    first = f"where {place} is 1"
    rest = question.rstrip(" ?.!")
    if match := _WINNING_MOST.search(rest):
        return f"number of rows by {match['noun']} {first}{rest[match.end() :]}, highest first"
    if (match := _LAST_MOST.search(rest)) and isinstance(columns[0].high, int | float):
        last = f"where {place} is {columns[0].high:g}"
        return f"number of rows by {match['noun']} {last}{rest[match.end() :]}, highest first"
    if match := _WON_BY.search(rest):
        groups = "for each" if match["each"] else "for"
        return f"{rest[: match.start()]}number of rows {groups} {match['who']}{rest[match.end() :]} {first}"
    if match := _WINS.search(rest):
        bound = f"where {place} is at most {PODIUM}" if match["noun"].casefold().startswith("podium") else first
        return f"{rest[: match.start()]}number of rows{rest[match.end() :]} {bound}"
    if match := _WINNERS.search(rest):
        return f"{rest[: match.start()]}rows{rest[match.end() :]} {first}"
    return question
