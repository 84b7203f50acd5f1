"""Parsing of rankings: the top groups of a measure, the commonest values, and superlatives."""

import re
from typing import NamedTuple

from app.agents.goals.typed_pattern import read_groups
from app.agents.questions.aggregate_request import (
    COUNT_ROWS,
    AggregateRequest,
    make_rate,
    require_numeric,
    row_name_column,
)
from app.agents.questions.conditions import find_meant_column
from app.agents.questions.group_by import make_group_key
from app.agents.questions.query import PARTS, Aggregate, Function, GroupKey
from app.agents.questions.sentence import ColumnMark, NotUnderstood, Sentence
from app.agents.questions.vocabulary import ADJECTIVES, AGGREGATE, AGGREGATES, LOW, SUPERLATIVE

_AGG = rf"(?:(?P<aggregate>{AGGREGATE})(?: values?| amount| number)?(?: of| in| for)?(?: the| all)? )?"
_RANKED = rf"(?P<ranked>C\d+|R|{'|'.join(PARTS)})"
_MEASURE = r"(?:(?:number|count) of )?(?P<measure>C\d+|R)(?P<rate> rate)?"
_SUPERLATIVE = rf"(?P<superlative>{SUPERLATIVE})"
_RANKING_FUNCTIONS: tuple[Function, ...] = ("total", "mean", "highest")


class _FrequencyGroups(NamedTuple):
    """The most or least frequent values of a column; `number`: the count of values."""

    number: str | None
    side: str
    column: str


def parse_commonest(sentence: Sentence) -> AggregateRequest | None:
    often = r"(?:common|frequent|popular|often|frequently|represented)"
    frequency = sentence.take(
        rf"(?:(?P<number>N\d+) )?\b(?P<side1>most|least) {often}(?: R)?(?: values? of)?(?: the)?"
        r" (?P<column1>C\d+)"
        r"|(?P<column2>C\d+) (?:is |are |was |were |occurs? |appears? |comes? )?"
        rf"(?:the )?(?P<side2>most|least) {often}"
        r"|\b(?P<side3>commonest|rarest) (?P<column3>C\d+)",
        _FrequencyGroups,
    )
    if not frequency:
        return None
    column = sentence.column(frequency.column)
    descending = frequency.side not in ("least", "rarest")
    if sentence.groups:
        if not descending:
            raise NotUnderstood("The rarest value of each group is beyond me.")
        return AggregateRequest((Aggregate("commonest", (column.name,)),))
    return AggregateRequest(
        (COUNT_ROWS,), (GroupKey(column.name),), sentence.integer(frequency.number, 1), descending
    )


class _RankingGroups(NamedTuple):
    """A ranking: `ranked` are columns, parts of dates or rows, `measure` is a column or the rows."""

    ranked: str
    measure: str
    rate: str | None = None
    aggregate: str | None = None
    side: str | None = None
    superlative: str | None = None
    number: str | None = None


def parse_ranking(sentence: Sentence) -> AggregateRequest | None:
    """Parse rankings: the class with the highest mean fare, the 5 countries with the most rows."""
    for pattern in _RANKINGS:
        if match := re.search(pattern, sentence.text):
            break
    else:
        return None
    ranking = read_groups(_RankingGroups, match)
    side = ranking.side or ranking.superlative or ""
    descending = not {ranking.superlative, ranking.side} & {*LOW}
    group = (
        GroupKey(row_name_column(sentence))
        if ranking.ranked == "R"
        else make_group_key(sentence, ranking.ranked)
    )
    limit = sentence.integer(ranking.number, 1)
    if ranking.rate:
        measure = make_rate(sentence, ranking.measure)
    else:
        extreme = ranking.superlative or side
        measure = _ranked_by(sentence, group, ranking.aggregate, ranking.measure, extreme, descending, limit)
    sentence.replace(match, "|")
    return AggregateRequest((measure,), (group,), limit, descending)


_VERB = (
    r"(?:has|have|had|with|that|which|who|paid|pays|shows?|is|are|was|were|got|gets|of|the|earned|earns|reached"
    r"|recorded|sold|sells|made|makes|by|in|on|for|those|values?|when|there)"
)
_RANKINGS = (
    rf"\b(?P<side>top|bottom|best|worst|highest|lowest|largest|smallest|biggest)"
    rf"(?: (?P<number>N\d+))? {_RANKED}"
    rf" (?:by|in|on|for|with|in terms of|according to|ranked by|ordered by|@)(?: the| their)?"
    rf" (?:(?P<superlative>{SUPERLATIVE}) )?{_AGG}{_MEASURE}",
    rf"\b(?:which|what|name|list|show|give|in which|the|those|me)(?: are| is| the| me| were| was){{0,5}}"
    rf"(?: (?P<number>N\d+))? {_RANKED} (?:{_VERB} ){{0,5}}{_SUPERLATIVE} {_AGG}{_MEASURE}",
    rf"(?P<number>N\d+) {_RANKED} (?:{_VERB} ){{0,5}}{_SUPERLATIVE} {_AGG}{_MEASURE}",
    rf"\b(?:which|what|in which|in what|when)(?: (?P<number>N\d+))? ?{_RANKED}"
    rf" (?:is |was |were |are |did |does |do |the ){{0,5}}{_AGG}{_MEASURE}"
    rf" (?:is |was |were |are )?(?:the )?{_SUPERLATIVE}\b",
)


def _ranked_by(
    sentence: Sentence, group: GroupKey, agg: str | None, by: str, side: str, descending: bool, limit: int
) -> Aggregate:
    if by == "R":
        return COUNT_ROWS
    column = sentence.column(by)
    if agg:
        function = AGGREGATES[agg]
        return Aggregate(function, (require_numeric(column, function),))
    name = require_numeric(column, "mean")
    group_column = next(c for c in sentence.question.table.columns if c.name == group.column)
    is_unique = group.part is None and (
        group_column.unique or group_column.distinct >= sentence.question.table.rows
    )
    if is_unique or side in _EXTREME_WORDS:
        return Aggregate("highest" if descending else "lowest", (name,))
    phrase = f"the {'top' if descending else 'bottom'} {limit} `{group.column}`"
    raise NotUnderstood(
        f"`{group.column}` repeats: say whether the total, the mean or the highest `{name}` counts.",
        [f"{phrase} by {function_name} `{name}`" for function_name in _RANKING_FUNCTIONS],
    )


_EXTREME_WORDS = frozenset(
    ("highest", "lowest", "largest", "smallest", "biggest", "greatest", "maximum", "minimum", "max", "min")
)


class _SuperlativeGroups(NamedTuple):
    """The rows or the column that a superlative describes; `number`: the count of rows."""

    number: str | None
    row: str | None
    column: str | None


def parse_superlative(sentence: Sentence) -> AggregateRequest | None:
    """Parse superlatives: `the oldest passenger` is the highest age, `which name is the oldest` a ranking."""
    for adjective, (function, names) in ADJECTIVES.items():
        superlative = sentence.take(
            rf"(?:(?P<number>N\d+) )?\b{adjective}\b(?P<row> R)?(?: (?P<column>C\d+))?", _SuperlativeGroups
        )
        if not superlative:
            continue
        column = find_meant_column(sentence, names, adjective)
        measure = Aggregate(function, (column.name,))
        if superlative.column and sentence.column(superlative.column) is column:
            return AggregateRequest((measure,))
        how = sentence.take(r"\bhow (?P<column>C\d+)", ColumnMark)
        if how and sentence.column(how.column) is not column:
            raise NotUnderstood(
                f"It asks for `{sentence.column(how.column).name}` and for the {adjective} at once."
            )
        subject = superlative.column
        if not subject and (which := sentence.take(r"\b(?:which|what|whose) (?P<column>C\d+)", ColumnMark)):
            subject = which.column
        asks_which_row = superlative.number or sentence.take(r"\b(?:who|which R|whose)\b")
        names_row = superlative.row and not how and sentence.has(r"\b(?:what|which)\b")
        if subject or asks_which_row or names_row:
            name = sentence.column(subject).name if subject else row_name_column(sentence)
            limit = sentence.integer(superlative.number, 1)
            return AggregateRequest((measure,), (GroupKey(name),), limit, function == "highest")
        return AggregateRequest((measure,))
    return None
