"""Bounds of numbers: `more than 3 bedrooms`, `fare above 50`, `between 2 and 4 hours`, `30 or more`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.tables.quantities import stored_quantities
from app.agents.goals.tables.units import column_unit, find_unit
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.conditions.number_conditions import find_measure
from app.agents.questions.conditions.stored_numbers import PERCENT, stored_number
from app.agents.questions.grammar_words import ADJECTIVES, CLASSES, MONEY_SIGNS, PACE_WORDS
from app.agents.questions.items import QuestionItem
from app.agents.questions.matching.column_matching import name_parts
from app.agents.questions.question_reading import Condition, QuestionReading, is_measurable
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.build import ComparisonSign
from app.plans.expressions import Expression

BoundSign = ComparisonSign | Literal["between"]
OUTSIDE_COST = 0.25
"""Cost of a bound that no row reaches: the number was rather meant of another column."""
MEANT_COST, UNIT_COST = 0.12, 0.06
"""Cost of a column that only its adjective or unit tells."""
AGE_COST = 0.15
"""Cost of an age that nothing names: `women over 60`."""
UNKNOWN_UNIT_COST = 0.3
"""Cost of a column that cannot hold the unit of the number."""
_MORE = word_set("more higher older above over longer later greater larger better bigger heavier up plus")
_FEWER = word_set("less fewer lower younger below under shorter cheaper earlier smaller lighter worse")
_OPEN_RANGE_WORDS = frozenset({"to", "-", "through"})
_RANGE_WORDS = _OPEN_RANGE_WORDS | {"and", "until"}
_SINGLES = {"a": 1.0, "an": 1.0, "one": 1.0}
_UNITS = CLASSES["@unit"]


@dataclass(frozen=True)
class NumberBound:
    """A comparison with one number, or with the two of a range, whose column is told by what stands beside."""

    sign: BoundSign
    low: float
    places: tuple[int, ...]
    high: float | None = None
    unit: str = ""
    adjective: str = ""
    is_negated: bool = False

    @property
    def end(self) -> int:
        return max(self.places)


def find_bounds(
    items: Sequence[QuestionItem], place: int, sign: BoundSign | None, adjective: str, is_negated: bool
) -> Iterator[NumberBound]:
    """Yield the bounds that begin with the number at a place, with and without a unit behind it."""
    low = items[place].number
    if low is None:
        return
    at, unit = place + 1, _unit_before(items, place)
    plain_end = place
    if at < len(items) and _is_unit(items[at]):
        unit, at = items[at].text, at + 1
    # `2 to 4` is a range by itself; `2 and 4` only behind `between`, else a list.
    ranges = _RANGE_WORDS if sign == "between" else _OPEN_RANGE_WORDS
    high = _range_end(items, at, ranges) if sign in (None, "between") else None
    if high is not None:
        number = items[high].number
        at = high + 1
        plain_end = high
        if at < len(items) and _is_unit(items[at]):
            unit, at = items[at].text, at + 1
        yield NumberBound("between", low, tuple(range(place, at)), number, unit, adjective, is_negated)
        if at - 1 > plain_end:
            yield NumberBound(
                "between", low, tuple(range(place, plain_end + 1)), number, "", adjective, is_negated
            )
        return
    # `over 5 minutes` may be a unit, or the column `minutes` without one: both are tried.
    for end, own_unit in dict.fromkeys(((at, unit), (place + 1, _unit_before(items, place)))):
        postfix = _postfix(items, end) if sign is None else None
        if postfix:
            yield NumberBound(postfix, low, tuple(range(place, end + 2)), None, own_unit, adjective, is_negated)
        elif sign is not None and sign != "between":
            yield NumberBound(sign, low, tuple(range(place, end)), None, own_unit, adjective, is_negated)


def unit_number(items: Sequence[QuestionItem], place: int) -> float | None:
    """The number of `an hour`, `a tonne` at a place, the unit of which stands behind."""
    if items[place].text not in _SINGLES or place + 1 >= len(items):
        return None
    following = items[place + 1]
    return _SINGLES[items[place].text] if _is_unit(following) and find_unit(following.text) else None


def _is_unit(item: QuestionItem) -> bool:
    return (
        item.kind in ("word", "sign")
        and not item.role
        and (item.text in _UNITS or find_unit(item.text) is not None)
    )


def _unit_before(items: Sequence[QuestionItem], place: int) -> str:
    before = items[place - 1].text if place else ""
    return MONEY_SIGNS.get(before, "")


def _range_end(items: Sequence[QuestionItem], at: int, range_words: frozenset[str]) -> int | None:
    """Place of the second number of a range."""
    if at + 1 < len(items) and items[at].text in range_words and not items[at].role:
        following = at + 1
        if items[following].kind == "sign" and items[following].text in MONEY_SIGNS:
            following += 1
        if following < len(items) and items[following].kind == "number" and not items[following].role:
            return following
    return None


def _postfix(items: Sequence[QuestionItem], at: int) -> ComparisonSign | None:
    if at + 1 < len(items) and items[at].text in ("or", "and"):
        if items[at + 1].text in _MORE:
            return ">="
        if items[at + 1].text in _FEWER:
            return "<="
    return None


def bound_condition(bound: NumberBound, reference: Reference, place: int) -> tuple[Condition, float]:
    """The condition that a bound makes of a column, and the cost of their not fitting."""
    column = reference.column
    low, cost = stored_number(bound.low, bound.unit, column), 0.0
    if bound.unit and not _may_hold(bound.unit, column):
        cost += UNKNOWN_UNIT_COST
    sign = bound.sign
    expression: Expression
    if sign == "between":
        high = stored_number(bound.high or 0.0, bound.unit, column)
        # `between 50 and 20` is the same range; in this order no row would lie in it.
        low, high = sorted((low, high))
        expression = build.every(
            [
                build.compare(">=", reference.expression, build.literal(low)),
                build.compare("<=", reference.expression, build.literal(high)),
            ]
        )
        is_inside = column.spans(low) or column.spans(high)
    else:
        if bound.adjective in ("faster", "slower") and PACE_WORDS & set(name_parts(column.name)):
            sign = "<" if bound.adjective == "faster" else ">"
        expression = build.compare(sign, reference.expression, build.literal(low))
        is_inside = column.spans(low)
    if not is_inside and isinstance(column.high, int | float):
        cost += OUTSIDE_COST
    if bound.is_negated:
        expression = build.negate(expression)
    values = (low,) if bound.sign == "=" else ()
    return Condition(expression, reference, values, place=place), cost


def _may_hold(unit: str, column: Column) -> bool:
    """Tell if a column may hold amounts in a unit: its own unit or its name says no other dimension."""
    unit_of_bound = find_unit(unit)
    if unit_of_bound is None or unit in PERCENT:
        return True
    own = find_unit(column.unit) or column_unit(column.name)
    if own is not None:
        return own.dimension == unit_of_bound.dimension
    kinds = stored_quantities(column)
    kind = {"time": "time", "money": "money", "mass": "mass", "length": "length"}.get(unit_of_bound.dimension)
    # An age is a time in years, though its name says no unit.
    if kind == "time" and unit in ("years", "year", "yrs") and "age" in words(column.name):
        return True
    return kind is None or not kinds or kind in kinds


_DEGREES = frozenset({"degrees", "degree", "celsius", "fahrenheit"})
"""Units of temperatures, which no name of a column ends with."""


def meant_columns(bound: NumberBound, reading: QuestionReading) -> Iterator[tuple[Reference, float]]:
    """Yield the columns that a bound means by its adjective or its unit, with the cost of each."""
    names = ADJECTIVES.get(bound.adjective, "").split()
    if bound.unit in ("years", "year", "old") and not names:
        names = ["age"]
    if bound.unit in _DEGREES and not names:
        names = ["temperature", "temp"]
    pool = [t for t in reading.scope.tables if t.name in reading.main_tables] or [*reading.scope.tables]
    phrase = bound.adjective if bound.adjective in ADJECTIVES or not bound.unit else bound.unit
    if names and (reference := find_measure(reading.copy(), names, phrase)):
        yield reference, MEANT_COST if bound.adjective else UNIT_COST
    elif bound.unit and find_unit(bound.unit) is not None:
        fitting = _columns_of_unit(bound, pool)
        if len(pool) < len(reading.scope.tables) and not any(_is_reached(bound, f.column) for f in fitting):
            # Of trees 30 m high no 500 m are asked, but of the stands where they grow.
            fitting = [f for f in _columns_of_unit(bound, reading.scope.tables) if _is_reached(bound, f.column)]
        bare = [reference for reference in fitting if len(words(reference.column.name)) == 1]
        complete = bare or [reference for reference in fitting if len(name_parts(reference.column.name)) == 1]
        if len(fitting) == 1 or len(complete) == 1:
            yield (fitting if len(fitting) == 1 else complete)[0], UNIT_COST
    elif not names and (age := find_measure(reading.copy(), ["age"], "over")) and age.column.spans(bound.low):
        yield age, AGE_COST
    elif not (names or bound.unit) and (nearest := _only_reached(bound, pool)):
        yield nearest, REACHED_COST


REACHED_COST, MIN_TELLING_NUMBER = 0.2, 100
"""Cost of the only measure whose values reach a number of which nothing else tells the column, and the number
from which that tells one: smaller ones may be counts of anything."""


def _only_reached(bound: NumberBound, tables: Sequence[TableProfile]) -> Reference | None:
    columns = [Reference(table.name, column) for table in tables for column in table.columns]
    spanning = [r for r in columns if is_measurable(r.column) and r.column.spans(bound.low)]
    return spanning[0] if bound.low >= MIN_TELLING_NUMBER and len(spanning) == 1 else None


def _columns_of_unit(bound: NumberBound, tables: Sequence[TableProfile]) -> list[Reference]:
    return [
        Reference(table.name, column)
        for table in tables
        for column in table.columns
        if is_measurable(column) and _may_hold(bound.unit, column) and _says_unit(bound.unit, column)
    ]


def _is_reached(bound: NumberBound, column: Column) -> bool:
    return column.spans(stored_number(bound.low, bound.unit, column))


def _says_unit(unit: str, column: Column) -> bool:
    """Tell if the name or the unit of a column says the dimension of a unit."""
    unit_of_bound = find_unit(unit)
    own = find_unit(column.unit) or column_unit(column.name)
    if unit_of_bound is None or "per" in words(column.name):
        return False  # `cost_per_hour` is no time
    if own is not None:
        return own.dimension == unit_of_bound.dimension
    kind = {"time": "time", "money": "money", "mass": "mass", "length": "length"}.get(unit_of_bound.dimension)
    return kind in stored_quantities(column)
