"""Rewording of terms for the time between two dates of a row: lead time, waiting time, days in advance."""

import re
from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Literal

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.tables.derived_columns import in_order, is_duration, named_dates

_UNITS = r"(?P<unit>days|hours|minutes|weeks|months)"
_VERB = r"(?:do|does|did|are|is|were|was)"
_LEAD = re.compile(r"\b(?:booking |order |ordering )?lead[- ]times?\b", re.IGNORECASE)
_IN_ADVANCE = re.compile(
    rf"\bhow (?:far|long|early|many {_UNITS}) (?:in advance|ahead|before(?:hand)?)"
    r"(?: of (?:their |the )?\w{3,20})?"
    rf" {_VERB} (?:the |our )?\w{{2,20}} (?:usually |typically )?\w{{3,20}}\b(?: on average)?",
    re.IGNORECASE,
)
_WAITING_TIME = re.compile(r"\bwait(?:ing)?[- ]times?\b", re.IGNORECASE)
_HOW_LONG_WAIT = re.compile(
    rf"\bhow (?:long|many {_UNITS}) (?:do|does|did) (?P<who>(?:the |our |a )?\w{{2,20}}) "
    r"(?:have to |usually |typically )?wait\b(?: on average)?",
    re.IGNORECASE,
)
_COUNT_BETWEEN = re.compile(
    rf"\bhow (?:many {_UNITS}|much time|long) (?:are|is|were|was|lie|lies|pass|passes|passed|elapse|elapses"
    r"|go by)(?: there)?(?: on average)?(?: it)? (?:between|from)\b",
    re.IGNORECASE,
)
"""The number of days between two dates of each row, which is a mean and no total."""
_ORDERS = word_set("booked booking ordered order placed reserved requested purchased bought")
"""Words of names of the time at which something is ordered that comes later."""
_TURNS = word_set("seen called served treated admitted answered attended picked")
"""Words of names of the time at which somebody's turn comes."""


def reword_span_terms(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the two dates of a row between which a term tells the time, where no column stores it."""
    text = question
    for patterns, side in (((_LEAD, _IN_ADVANCE), "lead"), ((_WAITING_TIME, _HOW_LONG_WAIT), "wait")):
        span = _span_of(side, tables) if any(pattern.search(text) for pattern in patterns) else None  # type: ignore[arg-type]
        if span is None:
            continue
        for pattern in patterns:
            text = pattern.sub(lambda match, span=span: _name_span(match, *span), text)  # type: ignore[misc]
    question_words = frozenset(map(stem, words(text)))
    if any(len(named_dates(table, question_words)) == BOTH for table in tables):
        text = _COUNT_BETWEEN.sub(
            lambda match: f"average duration {match['unit'] or ''} to".replace("  ", " "), text
        )
    return text


BOTH = 2
"""Dates of a span that a question names."""


def _name_span(match: re.Match[str], start: Column, end: Column) -> str:
    """The words of the span: with the aggregate of `how long`, and the persons whose time it is."""
    groups = match.groupdict()
    is_asked = match[0].casefold().startswith("how")
    unit = f" {groups['unit']}" if groups.get("unit") else ""
    who = f" of {groups['who']}" if groups.get("who") else ""
    return f"{'average ' if is_asked else ''}duration{unit} to `{start.name}` and `{end.name}`{who}"


def _span_of(side: Literal["lead", "wait"], tables: Sequence[TableProfile]) -> tuple[Column, Column] | None:
    """The dates between which a lead or a wait lies: an order and what follows, or a turn and what precedes."""
    spans = []
    for table in tables:
        if any(
            column.is_number and (is_duration(column) or "wait" in words(column.name))
            for column in table.columns
        ):
            return None  # a stored time comes first
        dates = _by_time([column for column in table.dates if not column.is_stored_as_text])
        marks = _ORDERS if side == "lead" else _TURNS
        places = [place for place, column in enumerate(dates) if marks & {*words(column.name)}]
        if len(places) != 1:
            continue
        start = places[0] if side == "lead" else places[0] - 1
        if 0 <= start < len(dates) - 1:
            spans.append((dates[start], dates[start + 1]))
    return spans[0] if len(spans) == 1 else None


def _by_time(dates: Sequence[Column]) -> list[Column]:
    """Dates of a row in the order in which they come; none if two overlap so that it is not told."""

    def compare(first: Column, second: Column) -> int:
        ordered = in_order(first, second)
        return 0 if ordered is None else (-1 if ordered[0] is first else 1)

    in_time = sorted(dates, key=cmp_to_key(compare))
    is_told = all(in_order(a, b) == (a, b) for a, b in pairwise(in_time))
    return in_time if is_told else []
