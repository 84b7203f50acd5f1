"""Rewording of the rows that a question sets against those of its condition: `than in the other wards`."""

import re
from collections.abc import Sequence

from app.agents.goals.tables.profiles import TableProfile
from app.agents.questions.grammar_words import PERSON_NOUNS
from app.agents.questions.marking.mark_items import mark_items
from app.agents.questions.marking.row_nouns import DAYS
from app.agents.questions.matching.column_matching import STEM

_LINK = r"(than|and|versus|vs\.?|against|compared (?:to|with)|with)"
_PLACE = r"(?:(?:on|in|at|for|of|from|among|those of|that of) )?"
_OTHER_ROWS = re.compile(
    rf"\b{_LINK} {_PLACE}(?:the )?(?:(?:all )?(?:the )?(?:other|remaining)|(?:the )?rest of the)"
    r" (?!than\b)([a-z_]{2,30})\b(?: on average)?(?=$|[?.,!]| (?:and )?by how)",
    re.IGNORECASE,
)
"""Rows that are named again: `than the other members`, `with all remaining visits`."""
_ELSEWHERE = re.compile(
    rf"\b{_LINK} {_PLACE}(?:elsewhere|otherwise|everywhere else|anywhere else|(?:every|any)(?:one|body) else"
    r"|everything else|all (?:the )?others?|all (?:the )?rest)\b",
    re.IGNORECASE,
)
"""All other rows by one word: `at Hill than elsewhere`, `members over 40 and everyone else`."""


def reword_other_rows(question: str, tables: Sequence[TableProfile]) -> str:
    """Say `the others` of rows that are named again, or told by a word such as `elsewhere`."""

    def name(match: re.Match[str]) -> str:
        if not _names_compared(match[2], question[: match.start()], tables):
            return match[0]
        average = " on average" if match[0].endswith(" on average") else ""
        return f"{_link(match[1])} the others{average}"

    text = _OTHER_ROWS.sub(name, question)
    return _ELSEWHERE.sub(lambda match: f"{_link(match[1])} the others", text)


def _link(text: str) -> str:
    """The link in the form that stands before `the others`."""
    return "and" if text.casefold() == "with" else text


def _names_compared(noun: str, before: str, tables: Sequence[TableProfile]) -> bool:
    """Tell if a noun names the rows, or the column of a value that the question has before it.

    Of another column than that of the condition other groups are asked for than the other rows.
    """
    items = mark_items(noun, tables).items
    if len(items) != 1:
        return False
    item = items[0]
    if item.row_tables or noun.casefold() in ("ones", "rows", *DAYS) or item.word in PERSON_NOUNS:
        return True
    keys = {match.key for match in item.columns[:1]}
    values = (other.values[0] for other in mark_items(before, tables).items if other.values)
    return any(match.key in keys and match.score >= STEM for match in values)
