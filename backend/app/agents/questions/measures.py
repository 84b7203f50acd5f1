"""Parsing of the aggregates that a question asks for: rules for each phrasing, tried in order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.agents.goals.tables import Column
from app.agents.goals.tokenizer import words
from app.agents.goals.typed_pattern import read_groups
from app.agents.questions.conditions import find_meant_column, parse_flags
from app.agents.questions.group_by import make_group_key
from app.agents.questions.marking import flag_values
from app.agents.questions.query import PARTS, Aggregate, Condition, Function, GroupKey
from app.agents.questions.sentence import ColumnMark, NotUnderstood, Sentence
from app.agents.questions.vocabulary import ADJECTIVES, AGGREGATE, AGGREGATES, LOW, SUPERLATIVE

_AGG = rf"(?:(?P<aggregate>{AGGREGATE})(?: values?| amount| number)?(?: of| in| for)?(?: the| all)? )?"
_RANKED = rf"(?P<ranked>C\d+|R|{'|'.join(PARTS)})"
_MEASURE = r"(?:(?:number|count) of )?(?P<measure>C\d+|R)(?P<rate> rate)?"
_SUPERLATIVE = rf"(?P<superlative>{SUPERLATIVE})"
NUMERIC_FUNCTIONS: frozenset[Function] = frozenset(
    {"mean", "median", "total", "spread", "percentile", "correlation"}
)


@dataclass(frozen=True)
class AggregateRequest:
    """The aggregates of a question, with the groups, limit and order that its phrasing implies."""

    measures: tuple[Aggregate, ...]
    groups: tuple[GroupKey, ...] = ()
    limit: int | None = None
    descending: bool = True
    is_listing: bool = False
    is_share: bool = False


COUNT_ROWS = Aggregate("count")
_RANKING_FUNCTIONS: tuple[Function, ...] = ("total", "mean", "highest")
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
    named_columns = _all_columns(sentence)
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


class _FrequencyGroups(NamedTuple):
    """The most or least frequent values of a column; `number`: the count of values."""

    number: str | None
    side: str
    column: str


def _commonest(sentence: Sentence) -> AggregateRequest | None:
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


def _ranking(sentence: Sentence) -> AggregateRequest | None:
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
        GroupKey(_row_name_column(sentence))
        if ranking.ranked == "R"
        else make_group_key(sentence, ranking.ranked)
    )
    limit = sentence.integer(ranking.number, 1)
    if ranking.rate:
        measure = _rate(sentence, ranking.measure)
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


def _share(sentence: Sentence) -> AggregateRequest | None:
    """Parse shares: of rows that meet the last condition, among those that meet the others."""
    share_words = r"\b(?:share|percent(?:age)?|proportion|fraction)\b"
    rate = r"(?P<column1>C\d+) (?:rates?|ratio|share|percentage)\b|\brate of (?P<column2>C\d+)"
    if rated := sentence.take(rate, ColumnMark):
        return AggregateRequest((_rate(sentence, rated.column),))
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


def _rate(sentence: Sentence, mark: str) -> Aggregate:
    column = sentence.column(mark)
    flag = flag_values(column)
    if flag is None:
        raise NotUnderstood(f"A rate is of a yes or no, and `{column.name}` is none.")
    sentence.interpretations.append(f"The rate is the share of rows where `{column.name}` is {flag[1]}.")
    return Aggregate("share", conditions=(Condition(column.name, "is", flag[1]),))


def _row_name_column(sentence: Sentence) -> str:
    """Return the column that names the rows. Raises NotUnderstood without exactly one."""
    names = [c.name for c in sentence.question.table.columns if "name" in words(c.name)]
    if len(names) != 1:
        raise NotUnderstood("It asks which row, and there is no one column that names the rows.")
    sentence.interpretations.append(f"Rows are called by `{names[0]}`.")
    return names[0]


def _group_shares(sentence: Sentence) -> AggregateRequest:
    """Make the request for the share of each group in all rows."""
    columns = _all_columns(sentence)
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
    return _adjective(sentence)


class _SuperlativeGroups(NamedTuple):
    """The rows or the column that a superlative describes; `number`: the count of rows."""

    number: str | None
    row: str | None
    column: str | None


def _adjective(sentence: Sentence) -> AggregateRequest | None:
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
            name = sentence.column(subject).name if subject else _row_name_column(sentence)
            limit = sentence.integer(superlative.number, 1)
            return AggregateRequest((measure,), (GroupKey(name),), limit, function == "highest")
        return AggregateRequest((measure,))
    return None


def _rows_by_group(sentence: Sentence) -> AggregateRequest | None:
    """Parse a bare count per group: rows per class."""
    return AggregateRequest((COUNT_ROWS,)) if sentence.groups and sentence.has(r"\bR\b") else None


RULES: Sequence[Rule] = (
    _correlation,
    _missing,
    _different,
    _commonest,
    _percentile,
    _ranking,
    _share,
    _span,
    _aggregates,
    _count,
    _rows_by_group,
)


def require_numeric(column: Column, function: Function) -> str:
    """Return the name of a column that the function applies to. Raises NotUnderstood."""
    is_native = not column.is_stored_as_text
    if function in NUMERIC_FUNCTIONS and not (column.is_number and is_native):
        kind = "text" if column.is_stored_as_text else column.type
        raise NotUnderstood(f"`{column.name}` holds {kind}, and there is no {function} of that.")
    return column.name


def _all_columns(sentence: Sentence) -> list[str]:
    names = []
    while mark := sentence.take(r"\b(?P<column>C\d+)\b", ColumnMark):
        names.append(sentence.column(mark.column).name)
    return list(dict.fromkeys(names))
