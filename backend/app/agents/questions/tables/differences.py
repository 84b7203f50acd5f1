"""Differences that a table implies: the profit between what came in and what went out, the spread of quotes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.plans import build
from app.plans.expressions import Expression


class ImpliedDifference(NamedTuple):
    """A term of a field: the first column less the second, each by words of its name."""

    name: str
    terms: frozenset[str]
    first: frozenset[str]
    second: frozenset[str]


_DIFFERENCES = (
    ImpliedDifference(
        "profit",
        word_set("profit profits profitable profitability"),
        word_set("revenue revenues sales turnover gross income rev earnings takings"),
        word_set("cost costs spend spent budget expense expenses expenditure"),
    ),
    ImpliedDifference("spread", word_set("spread spreads"), word_set("ask asks offer"), word_set("bid bids")),
)
_OF_ONE = frozenset({"per", "unit", "each", "rate", "pct", "percent", "ratio"})
"""Words of names of amounts for one piece, and of shares, of which a difference of totals has no use."""


def differences_of(table: TableProfile, question_words: frozenset[str]) -> Iterator[tuple[Column, Expression]]:
    """Yield the differences that a question asks for and no column stores."""
    numbers = [column for column in table.columns if column.is_number and not column.is_stored_as_text]
    for difference in _DIFFERENCES:
        is_asked = any(stem(term) in question_words for term in difference.terms)
        is_stored = any(difference.terms & {*words(column.name)} for column in table.columns)
        if not is_asked or is_stored:
            continue
        first, second = (_only(numbers, names) for names in (difference.first, difference.second))
        if first is None or second is None or first == second:
            continue
        expression = build.arithmetic("-", build.column(first.name), build.column(second.name))
        missing = max(first.missing, second.missing, 0.001)
        column = Column(difference.name, "number", "numeric", distinct=table.rows, missing=missing)
        yield column, expression


def _only(numbers: Sequence[Column], names: frozenset[str]) -> Column | None:
    """The only number whose name has one of some words."""
    matches = [c for c in numbers if names & {*words(c.name)} and not _OF_ONE & {*words(c.name)}]
    return matches[0] if len(matches) == 1 else None
