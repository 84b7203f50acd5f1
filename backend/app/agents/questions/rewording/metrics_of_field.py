"""Rewording of the metrics of a field as what they are: `ctr` as `clicks` per `impressions`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.question_reading import is_measurable


class FieldMetric(NamedTuple):
    """A ratio of two totals: words of the names of columns that hold the one and the other."""

    amount: frozenset[str]
    base: frozenset[str]


_CLICKS, _VIEWS = word_set("click clicks clk clks"), word_set("impression impressions impr imps views")
_SPENT, _EARNED = word_set("spend spent cost costs adspend"), word_set("revenue rev sales turnover")
_WON, _ORDERS = word_set("conversion conversions conv convs"), word_set("orders purchases transactions")
_METRICS = {
    **dict.fromkeys(("ctr", "click through rate"), FieldMetric(_CLICKS, _VIEWS)),
    **dict.fromkeys(("roas", "return on ad spend"), FieldMetric(_EARNED, _SPENT)),
    "acos": FieldMetric(_SPENT, _EARNED),
    "cpc": FieldMetric(_SPENT, _CLICKS),
    "cpa": FieldMetric(_SPENT, _WON),
    "cvr": FieldMetric(_WON, _CLICKS),
    "loss ratio": FieldMetric(word_set("claim claims loss losses"), word_set("premium premiums")),
    **dict.fromkeys(("aov", "average order value"), FieldMetric(_EARNED, _ORDERS)),
}
"""Metrics of advertising, shops and insurers by their names, each a ratio of totals."""
_METRIC_NAMES = re.compile(
    r"\b(ctr|click[- ]through rate|roas|return on ad spend|acos|cpc|cpa|cvr|aov|average order value"
    r"|loss ratio)\b",
    re.IGNORECASE,
)
_BEST_RETURN = re.compile(
    r"\b(best|highest|greatest|biggest|worst|lowest|poorest)"
    r" (?:returns?(?! rate)(?: on investment)?|roi|pay ?off)\b",
    re.IGNORECASE,
)
"""The extreme of what is earned for what is spent: the order is that of the one per the other."""
_QUOTED_SPREAD = re.compile(r"\b(?:bid[- /]{1,3}(?:and )?ask|ask[- /]{1,3}bid) (?=spread)", re.IGNORECASE)
"""The names of both quotes before the term for their difference."""
_LOW_SIDE = frozenset({"worst", "lowest", "poorest"})


def reword_field_metrics(question: str, tables: Sequence[TableProfile]) -> str:
    """Name the two columns of each metric that no column stores, where only one holds each of the two."""
    columns = [column for table in tables for column in table.columns]
    parts = {part for column in columns for part in words(column.name)}

    def name(match: re.Match[str]) -> str:
        metric = match[1].casefold().replace("-", " ")
        if metric in parts:
            return match[0]
        amount, base = (_find(names, columns) for names in _METRICS[metric])
        return f"`{amount.name}` per `{base.name}`" if amount and base else match[0]

    def name_return(match: re.Match[str]) -> str:
        amount, base = _find(_EARNED, columns), _find(_SPENT, columns)
        side = "lowest" if match[1].casefold() in _LOW_SIDE else "highest"
        return f"{side} `{amount.name}` per `{base.name}`" if amount and base else match[0]

    text = _QUOTED_SPREAD.sub("", _METRIC_NAMES.sub(name, question))
    return text if {"return", "returns", "roi"} & parts else _BEST_RETURN.sub(name_return, text)


def _find(names: frozenset[str], columns: Sequence[Column]) -> Column | None:
    """The only measure whose name has one of some words."""
    matches = [column for column in columns if names & {*words(column.name)} and is_measurable(column)]
    return matches[0] if len(matches) == 1 else None
