"""Parsing of the aggregates that a question asks for: rules for each phrasing, tried in order."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.agents.questions.aggregate_request import (
    COUNT_ROWS,
    AggregateRequest,
    all_columns,
    make_rate,
    require_numeric,
)
from app.agents.questions.conditions import parse_flags
from app.agents.questions.marking import flag_values
from app.agents.questions.query import Aggregate, Function, GroupKey
from app.agents.questions.rankings import parse_commonest, parse_ranking, parse_superlative
from app.agents.questions.sentence import ColumnMark, NotUnderstood, Sentence
from app.agents.questions.vocabulary import AGGREGATE, AGGREGATES

Rule = Callable[[Sentence], AggregateRequest | None]


def parse_aggregates(sentence: Sentence) -> AggregateRequest:
    """Parse the requested aggregates by the first matching rule. Raises NotUnderstood if none matches."""
    for rule in RULES:
        if request := rule(sentence):
            return request
    raise NotUnderstood("It cannot be told which figure is asked for.")


class _ColumnPair(NamedTuple):
    first: str
    second: str


def _correlation(sentence: Sentence) -> AggregateRequest | None:
    if not sentence.has(r"\bcorrelat\w*|\b(?:related|associated|relationship|association)\b"):
        return None
    pair = sentence.take(
        r"(?P<first>C\d+) (?:is |are )?(?:and|with|to|,)(?: the)? (?P<second>C\d+)", _ColumnPair
    ) or sentence.take(r"(?P<first>C\d+) (?:\w+ ){0,8}?(?:with|to|and)(?: the)? (?P<second>C\d+)", _ColumnPair)
    if not pair:
        raise NotUnderstood("A correlation is of two columns, and it does not name two.")
    sentence.take(r"\b(?:correlat\w*|related|associated|relationship|association)(?: coefficient)?")
    sentence.take(r"\b(?:strongly|strong|closely)\b")
    first, second = (require_numeric(sentence.column(mark), "correlation") for mark in pair)
    return AggregateRequest((Aggregate("correlation", (first, second)),))


def _missing(sentence: Sentence) -> AggregateRequest | None:
    if not sentence.take(r"\b(?:missing|nulls?|empty|blank|nan|not filled in)\b(?: values?| cells?)?"):
        return None
    share = sentence.take(r"\b(?:share|percent(?:age)?|proportion|fraction)\b")
    sentence.take(r"\b(?:number|count)\b")
    named_columns = all_columns(sentence)
    columns = named_columns or [column.name for column in sentence.question.table.columns]
    if not named_columns and len(columns) > MAX_MISSING_COLUMNS:
        raise NotUnderstood(
            f"The table has more than {MAX_MISSING_COLUMNS} columns; name those that are meant."
        )
    function: Function = "missing_share" if share else "missing"
    return AggregateRequest(tuple(Aggregate(function, (name,)) for name in columns))


MAX_MISSING_COLUMNS = 60
"""Columns of one answer, each a column of its table: a wider one is not readable."""


def _different(sentence: Sentence) -> AggregateRequest | None:
    distinct = sentence.take(
        r"(?:different|distinct|unique) (?:values? )?(?:of |in |for |does )?(?:the )?"
        r"(?P<column>C\d+)(?: have)?",
        ColumnMark,
    ) or sentence.take(
        r"(?:which|what)(?: are the| are all)? (?P<column1>C\d+)(?: values)? (?:are|is)"
        r" (?:there|in|present|covered)\b"
        r"|\b(?:list|show)(?: me)?(?: all)?(?: the)?(?: values of)? (?P<column2>C\d+)$"
        r"|\bwhat values does (?P<column3>C\d+) (?:have|take)",
        ColumnMark,
    )
    if not distinct:
        return None
    column = sentence.column(distinct.column)
    if sentence.take(r"\b(?:how many|number of|count of|count)\b"):
        return AggregateRequest((Aggregate("different", (column.name,)),))
    return AggregateRequest((COUNT_ROWS,), (GroupKey(column.name),), is_listing=True)


def _share(sentence: Sentence) -> AggregateRequest | None:
    """Parse shares: of rows that meet the last condition, among those that meet the others."""
    share_words = r"\b(?:share|percent(?:age)?|proportion|fraction)\b"
    rate = r"(?P<column1>C\d+) (?:rates?|ratio|share|percentage)\b|\brate of (?P<column2>C\d+)"
    if rated := sentence.take(rate, ColumnMark):
        return AggregateRequest((make_rate(sentence, rated.column),))
    if sentence.take(r"\bdistribution of (?=C\d)"):
        return _group_shares(sentence)
    if not sentence.take(share_words):
        return None
    sentence.take(r"\b(?:number|count) of\b")
    parse_flags(sentence)
    marks = re.findall(r"F\d+", sentence.text)
    if not marks:
        return _group_shares(sentence)
    # "Share of men in third class who survived": of three conditions the last one is measured, unless a word
    # such as `among` names the rows that it refers to.
    separators = "among|within|where" if len(marks) > 2 else "among|within|in|of|where"
    between = rf"(?:\w+ ){{0,8}}?(?:{separators}) (?:\w+ ){{0,8}}?"
    is_first_measured = len(marks) > 1 and sentence.has(rf"{marks[0]} {between}{marks[1]}")
    measured = marks[0] if is_first_measured else marks[-1]
    sentence.take(rf"{measured}\b")
    return AggregateRequest((Aggregate("share", conditions=(sentence.conditions[int(measured[1:])],)),))


def _group_shares(sentence: Sentence) -> AggregateRequest:
    """Make the request for the share of each group in all rows."""
    columns = all_columns(sentence)
    if len(columns) + len(sentence.groups) != 1:
        raise NotUnderstood("It does not say of what the share is.")
    return AggregateRequest((COUNT_ROWS,), tuple(GroupKey(name) for name in columns), is_share=True)


def _count(sentence: Sentence) -> AggregateRequest | None:
    counted = sentence.take(
        r"\b(?:how many|(?:total )?number of|count of|count(?:s)?)\b(?: of)?(?: the)?(?: (?P<column>C\d+)\b)?",
        ColumnMark,
    )
    if not counted:
        return None
    if not counted.column:
        return AggregateRequest((COUNT_ROWS,))
    column = sentence.column(counted.column)
    if flag_values(column):
        sentence.text = f"{counted.column} {sentence.text}"
        return AggregateRequest((COUNT_ROWS,))
    if (
        column.is_number
        and column.hint != "id"
        and not any(f"of `{column.name}` is taken" in text for text in sentence.question.interpretations)
    ):
        raise NotUnderstood(
            f"It could mean the total of `{column.name}`, its different values, or the rows that have one.",
            [
                f"the total of `{column.name}`",
                f"the number of different `{column.name}`",
                f"the number of rows where `{column.name}` is known",
            ],
        )
    return AggregateRequest((Aggregate("different", (column.name,)),))


def _span(sentence: Sentence) -> AggregateRequest | None:
    if sentence.take(
        r"\b(?:time span|time range|date range|time period|period|span|dates|range)\b"
        r"(?: of)?(?: time)?(?! of C| of the C| C)"
    ):
        sentence.take(r"\b(?:cover(?:ed|s)?|span(?:ned)?)\b")
        name = sentence.date_column().name
    elif spanned := sentence.take(r"\b(?:range|span) of (?:the )?(?P<column>C\d+)", ColumnMark):
        name = sentence.column(spanned.column).name
    else:
        return None
    return AggregateRequest((Aggregate("lowest", (name,)), Aggregate("highest", (name,))))


class _PercentileGroups(NamedTuple):
    """A percentile: `number` is a mark, or an ordinal such as `90th`."""

    number: str
    column: str


def _percentile(sentence: Sentence) -> AggregateRequest | None:
    percentile = sentence.take(
        r"(?P<number>N\d+|\d{1,2}(?:st|nd|rd|th))(?: %)? (?:percentile|quantile|percent quantile)s?"
        r"(?: of| for)?(?: the)? (?P<column>C\d+)",
        _PercentileGroups,
    )
    if not percentile:
        return None
    text = percentile.number
    percent = sentence.number(text) if text[0] == "N" else float(re.sub(r"\D", "", text))
    percent = 100 * percent if percent <= 1 else percent
    name = require_numeric(sentence.column(percentile.column), "percentile")
    return AggregateRequest((Aggregate("percentile", (name,), percent),))


class _FunctionGroups(NamedTuple):
    """Names of functions, and the marks of the columns that each of them is applied to."""

    functions: str
    columns: str


def _aggregates(sentence: Sentence) -> AggregateRequest | None:
    """Parse aggregates of columns: mean and median of fare and age."""
    function_word = rf"(?:{AGGREGATE})"
    match = sentence.take(
        rf"\b(?P<functions>{function_word}(?:(?: ,|,)? (?:and |or )?(?:the )?{function_word}){{0,20}})"
        r"(?: values?| amount| number)?(?: of| in| for| is)?(?: the| all| R){0,5}"
        r" (?P<columns>C\d+(?:(?: ,|,)?(?: and| or)? (?:the )?C\d+){0,20})",
        _FunctionGroups,
    ) or sentence.take(rf"(?P<columns>C\d+) (?:on )?(?P<functions>{function_word})\b", _FunctionGroups)
    if match:
        functions = [AGGREGATES[name] for name in re.findall(function_word, match.functions)]
        columns = [sentence.column(mark) for mark in re.findall(r"C\d+", match.columns)]
        return AggregateRequest(
            tuple(Aggregate(f, (require_numeric(c, f),)) for c in columns for f in functions)
        )
    return parse_superlative(sentence)


def _rows_by_group(sentence: Sentence) -> AggregateRequest | None:
    """Parse a bare count per group: rows per class."""
    return AggregateRequest((COUNT_ROWS,)) if sentence.groups and sentence.has(r"\bR\b") else None


RULES: Sequence[Rule] = (
    _correlation,
    _missing,
    _different,
    parse_commonest,
    _percentile,
    parse_ranking,
    _share,
    _span,
    _aggregates,
    _count,
    _rows_by_group,
)
