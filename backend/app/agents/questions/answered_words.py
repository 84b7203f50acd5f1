"""Account of the words of a question: each that asks for something is answered by a part of the plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from app.agents.goals.tables.profiles import Column
from app.agents.questions.grammar_words import COMPARATIVES, SUPERLATIVES
from app.agents.questions.growth_verbs import grows_things
from app.agents.questions.items import QuestionItem
from app.agents.questions.named_values import uncompared_values
from app.agents.questions.plan_marks import plan_marks
from app.agents.questions.question_reading import (
    QuestionReading,
    is_measurable,
)
from app.agents.questions.tables.years import holds_years
from app.plans.plan import Plan

MIN_NAMED_SCORE = 0.9
"""Score of a column or value that a word names, so that it asks for no figure: `total` of `total_fat`."""
MAX_EQUAL_VALUES = 30
"""Different values of a measure, from which no row is asked for by its exact number without saying so."""


class Demand(NamedTuple):
    """Phrases that ask for something, and marks of plans of which one answers them."""

    phrases: tuple[str, ...]
    marks: frozenset[str]


def _demand(phrases: str, marks: str) -> Demand:
    return Demand(tuple(phrase.strip() for phrase in phrases.split("|")), frozenset(marks.split()))


_ORDER_MARKS = "max min rank dense_rank row_number top_k limit sort first"
_COUNT_MARKS = "count count_distinct sum cumulative_sum"
_FIGURE_MARKS = (
    f"{_COUNT_MARKS} mean median max min stddev variance quantile share_true share moving_mean / - + profile"
)
_COMPARISON_MARKS = "< <= > >= between case"
DEMANDS: tuple[Demand, ...] = (
    _demand("mean|average|avg|averages|averaged|means", "mean share_true / moving_mean"),
    _demand("median|medians", "median quantile"),
    _demand("typical", "mean median"),
    _demand("std|stdev|sd|standard deviation", "stddev"),
    _demand("variance|var", "variance"),
    _demand("total|sum|totals|sums", f"{_COUNT_MARKS} + *"),
    _demand("maximum|max", f"{_ORDER_MARKS} profile"),
    _demand("minimum|min", f"{_ORDER_MARKS} profile"),
    _demand("percentile|percentiles|quantile|quantiles|quartile|quartiles|decile|deciles", "quantile"),
    _demand("interquartile|iqr", "-"),
    _demand("how many", _FIGURE_MARKS),
    _demand("number of", f"{_FIGURE_MARKS} {_ORDER_MARKS}"),
    _demand("number and|count and|how often|how many times|how frequently", "count count_distinct share_true"),
    _demand("share|shares|proportion|proportions|fraction", "share_true share / lag"),
    _demand("percentage|percentages|percent|pct", "share_true share / lag quantile"),
    _demand("before|after|since|until", f"{_COMPARISON_MARKS} lag -"),
    _demand("per|each|every", "keys / mean lag slope correlate"),
    _demand("change|growth|grew|grow|increase|increased|decrease", "lag -"),
    _demand("improve|improved|improvement|gain|gained|gains|worsened", "lag - sum"),
    _demand("cumulative|running|cumulated", "cumulative_sum"),
    _demand("rolling|moving", "moving_mean"),
    _demand("difference|gap", "-"),
    _demand("ratio", "/"),
    _demand("other|others|remaining|elsewhere", "not != keys case no anti - / correlate correlation"),
    _demand("correlation|correlate|correlated", "correlation correlate"),
    _demand("distinct|different|unique", "count_distinct distinct keys"),
    _demand("missing|empty|blank|null|nulls", "is_null profile count"),
    _demand("sorted|ranked|ranking|descending|ascending", _ORDER_MARKS),
    _demand("top|bottom", f"{_ORDER_MARKS} quantile"),
    _demand(
        "|".join(sorted(SUPERLATIVES - {"max", "maximum", "min", "minimum", "top", "bottom"})), _ORDER_MARKS
    ),
    _demand("both", "keys count_distinct / - case share_true correlate correlation + and or mean sum"),
    _demand(
        "who won|who wins|who lost|who leads|who led|who came first|who came last", f"{_ORDER_MARKS} count"
    ),
    _demand("not|no|never|without|except|excluding|neither|nobody|nothing", "not != is_null anti no sort"),
)
"""What words ask for. `*` stands for anything: the word is only counted among those that name a figure."""
_DEMANDS_BY_PHRASE = {phrase: demand for demand in DEMANDS for phrase in demand.phrases}
MAX_PHRASE_WORDS = max(len(phrase.split()) for phrase in _DEMANDS_BY_PHRASE)
_IDIOMS = frozenset(
    {
        ("at", "least"),
        ("at", "most"),
        ("or", "not"),
        ("if", "not"),
        ("per", "cent"),
        ("not", "counting"),
        ("most", "of"),
        ("no", "more"),
        ("not", "more"),
        ("not", "less"),
        ("not", "fewer"),
        ("first", "name"),
        ("each", "other"),
        ("not", "only"),
        ("whether", "not"),
        ("the", "means"),
    }
)
"""Pairs of words of which the second, or the first, asks for nothing of its own."""
_EQUAL_WORDS = frozenset(
    {"=", "exactly", "equal", "equals", "is", "was", "are", "were", "of", "with", "at", "has"}
)


def unaccounted_words(plan: Plan, reading: QuestionReading, columns: Iterable[Column]) -> list[str]:
    """Words that ask for a figure, a comparison, an order or a group that a plan does not have."""
    items, marks = reading.text.items, plan_marks(plan)
    used = [*columns]
    names = frozenset(column.name for column in used)
    words = [
        text
        for place, text, demand in _demands(items)
        if not grows_things(items, place)
        # `contracts running on 1 May` are a condition and no running total.
        if not (text == "running" and items[place].role == "condition")
        if not demand.marks & (marks | {"*"})
        if not any(_names_part(item, names) for item in items[place : place + len(text.split())])
    ]
    return [
        *words,
        *_bare_comparisons(items, marks),
        *_limited_percents(items, marks),
        *_unsaid_equalities(plan, reading, used),
        *uncompared_values(plan, items),
    ]


_PERCENTS = frozenset({"%", "percent", "pct"})


def _limited_percents(items: Sequence[QuestionItem], marks: frozenset[str]) -> Iterator[str]:
    """Yield a part of all rows that a plan takes for a number of rows: `the top 10 percent`."""
    for before, number, sign in zip(items, items[1:], items[2:], strict=False):
        is_part = before.text in SUPERLATIVES and number.kind == "number" and sign.text in _PERCENTS
        if is_part and not marks & {"quantile", "share"}:
            yield f"{before.text} {number.text} {sign.text}"


def _demands(items: Sequence[QuestionItem]) -> Iterator[tuple[int, str, Demand]]:
    """Yield the place, words and demand of each phrase that asks for something, the longest at each place."""
    place = 0
    while place < len(items):
        size, demand = _longest(items, place)
        if demand is None or (size == 1 and _is_idiom(items, place)):
            place += max(size, 1)
            continue
        yield place, " ".join(item.text for item in items[place : place + size]), demand
        place += size


def _longest(items: Sequence[QuestionItem], place: int) -> tuple[int, Demand | None]:
    # The longest phrase decides: `how many times` asks for a count, `how many` alone for any figure.
    for size in range(min(MAX_PHRASE_WORDS, len(items) - place), 0, -1):
        texts = [item.text for item in items[place : place + size] if item.kind in ("word", "sign")]
        demand = _DEMANDS_BY_PHRASE.get(" ".join(texts)) if len(texts) == size else None
        if demand is not None:
            return size, demand
    return 0, None


def _is_idiom(items: Sequence[QuestionItem], place: int) -> bool:
    before = items[place - 1].text if place else ""
    following = items[place + 1].text if place + 1 < len(items) else ""
    return (before, items[place].text) in _IDIOMS or (items[place].text, following) in _IDIOMS


def _names_part(item: QuestionItem, names: frozenset[str]) -> bool:
    """Tell if a word belongs to the name of a column, or to a value, that the plan has."""
    is_column = any(match.score >= MIN_NAMED_SCORE and match.column.name in names for match in item.columns)
    is_value = any(match.score >= MIN_NAMED_SCORE and match.column.name in names for match in item.values)
    return is_column or is_value


def _bare_comparisons(items: Sequence[QuestionItem], marks: frozenset[str]) -> Iterator[str]:
    """Yield comparisons with numbers where a plan compares nothing: `above 85`, `more than 3`."""
    if marks & {*_COMPARISON_MARKS.split(), "=", "!=", "in"}:
        return
    for place, item in enumerate(items[1:], 1):
        pair = f"{items[place - 2].text} {items[place - 1].text}" if place > 1 else ""
        if item.kind == "number" and (items[place - 1].text in COMPARATIVES or pair in COMPARATIVES):
            yield f"{items[place - 1].text} {item.text}"


def _unsaid_equalities(plan: Plan, reading: QuestionReading, columns: Sequence[Column]) -> Iterator[str]:
    """Yield numbers that a plan compares for equality although no word says so: `passed 5000 downloads`."""
    many = {
        c.name for c in columns if is_measurable(c) and c.distinct > MAX_EQUAL_VALUES and not holds_years(c)
    }
    items = reading.text.items
    for name, value in _compared_numbers(plan.model_dump()):
        if name not in many:
            continue
        places = [n for n, item in enumerate(items) if item.number is not None and item.number == value and n]
        if places and not any(items[n - 1].text in _EQUAL_WORDS for n in places):
            yield items[places[0]].text


def _compared_numbers(part: Any) -> Iterator[tuple[str, float]]:
    """Yield the columns of a plan that are compared for equality, with the numbers."""
    if isinstance(part, list | tuple):
        for inner in part:
            yield from _compared_numbers(inner)
    elif isinstance(part, Mapping):
        if part.get("kind") == "compare" and part.get("op") == "=":
            column, value = part["left"], part["right"].get("value")
            if column.get("kind") == "column" and isinstance(value, int | float):
                yield column["name"], value
        for inner in part.values():
            yield from _compared_numbers(inner)
