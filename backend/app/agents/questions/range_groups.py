"""Groups by ranges that a question lists: `under 25, 25 to 49, 50 and over`, `before 2018 and after`.

Ranges are found by their numbers (`_range_at`), those that only links stand between are kept (`_neighbours`),
and the column that they are of is looked for next to them (`_ranged_column`). The key of the groups is a CASE
of their conditions, which sorts by their lower bounds. A year or day has two sides (`parse_turning_points`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import inf
from typing import Literal

from app.agents.goals.words.vocabulary import word_set
from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.conditions.date_spans import as_year
from app.agents.questions.conditions.number_bounds import (
    NumberBound,
    bound_condition,
    find_bounds,
    meant_columns,
)
from app.agents.questions.grammar_words import AGGREGATE_WORDS, COMPARATIVES, MONEY_SIGNS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    QuestionReading,
    Value,
    is_measurable,
)
from app.agents.questions.tables.scope import Reference
from app.agents.questions.tables.years import holds_years
from app.plans import build
from app.plans.expressions import Expression

MAX_SIGN_WORDS = 3
"""Words of the longest comparison before a number: `no less than`."""
MAX_GAP = 7
"""Words between two ranges: `over 50 compared to those of patients under 50`."""
MAX_COLUMN_DISTANCE = 4
"""Words between a column and the first range: `by age band , namely`."""
MIN_NAMED_SCORE = 0.6
"""Score of a column that the words before the ranges mean."""
_RANGE_LINKS = word_set(
    """
    , and or to than vs versus with against compared comparison the those that ones people persons of for in on
    by from how many much are is were was rather opposed as given / more less higher lower fewer do does did
    """
)
"""Words that stand between two ranges of one list."""
_CLASS_WORDS = word_set(
    "range ranges group groups band bands bracket brackets class classes bin bins bucket buckets years old aged"
)
"""Words between the name of a column and its ranges, or behind a range: `by age band`, `25 to 49 years old`."""
_KEY_WORDS = word_set("by per in for of across group split divide bin")
"""Words before the column of the ranges, which make it the key of groups."""
_AGAIN = "in|for|of|within|per each"
"""Words at the end of a question that only name its groups again."""
_FIGURE_WORDS = (frozenset(AGGREGATE_WORDS) - {"least", "most"}) | word_set(
    """
    how number count share percentage percent proportion compare compared difference versus vs by per do does
    did
    """
)
"""Words of questions that ask for a figure of each range rather than for a list of rows."""
_COLUMN_LINKS = frozenset({",", "of", "from", "in", "with", "is", "are", "was", "were", "between"})
"""Words between a number and its ranges: `fee of people over 40` is no range of fees."""
_END_WORDS = frozenset({"years", "year", "old", "people", "ones"})
"""Words that end a range, before the link to the next one."""


@dataclass(frozen=True)
class _ListedRange:
    """A range of numbers with the places of its words."""

    bound: NumberBound
    places: tuple[int, ...]

    @property
    def limits(self) -> tuple[tuple[float, int], tuple[float, int]]:
        """The lowest and highest number, each with 1 or -1 where it is just above or below it."""
        bound = self.bound
        if bound.sign == "between":
            low, high = sorted((bound.low, bound.high if bound.high is not None else bound.low))
            return (low, 0), (high, 0)
        if bound.sign in (">", ">="):
            return (bound.low, 1 if bound.sign == ">" else 0), (inf, 0)
        return (-inf, 0), (bound.low, -1 if bound.sign == "<" else 0)

    @property
    def label(self) -> str:
        bound, low = self.bound, f"{self.bound.low:g}"
        if bound.sign == "between":
            return f"{low} to {bound.high:g}"
        labels = {">": f"over {low}", ">=": f"{low} and over", "<": f"under {low}", "<=": f"up to {low}"}
        return labels[bound.sign]


def parse_range_groups(reading: QuestionReading) -> None:
    """Parse two or more ranges of one number, of which no value has two, as groups."""
    items = reading.text.items
    ranges = _neighbours([*_find_ranges(items)], items)
    asks_figure = any(item.text in _FIGURE_WORDS for item in items)
    # `over 50 and over 60` are bounds of one set of rows.
    if len(ranges) < 2 or _overlap(ranges) or not asks_figure:
        return
    ranged_column = _ranged_column(reading, ranges)
    if ranged_column is None:
        return
    reference, own_places = ranged_column
    conditions = [bound_condition(r.bound, reference, r.places[0])[0].expression for r in ranges]
    between = range(ranges[0].places[0], ranges[-1].places[-1] + 1)
    again = reading.text.find(_AGAIN, ranges[-1].places[-1] + 1)
    is_last = again is not None and again.places[-1] == len(items) - 1
    reading.text.use([*own_places, *(p for p in between if not items[p].row_tables)], "group")
    reading.text.use(again.places if again is not None and is_last else [], "group")
    reading.keys.append(_cases(conditions, [r.label for r in ranges], f"{reference.column.name} range", ranges))


def _cases(
    conditions: Sequence[Expression], labels: Sequence[str], name: str, ranges: Sequence[_ListedRange] = ()
) -> Value:
    """The label of the first condition that holds, sorted by the lower bounds of the ranges."""
    lows = sorted(range(len(labels)), key=lambda n: ranges[n].limits[0]) if ranges else [*range(len(labels))]
    cases = [(c, build.literal(label)) for c, label in zip(conditions, labels, strict=True)]
    # As texts `100 to 200` sorts before `25 to 49`: groups sort by their lower bounds.
    order = [(c, build.literal(lows.index(n))) for n, c in enumerate(conditions)]
    return Value(build.case(cases, None), name, "text", order=build.case(order, None))


def _find_ranges(items: Sequence[QuestionItem]) -> Iterator[_ListedRange]:
    """Yield the ranges of a question in their order. No two share a word."""
    place = 0
    while place < len(items):
        listed_range = _range_at(items, place)
        if listed_range is None:
            place += 1
            continue
        yield listed_range
        place = listed_range.places[-1] + 1


def _range_at(items: Sequence[QuestionItem], place: int) -> _ListedRange | None:
    """The range whose number, or first number, stands at a place."""
    item = items[place]
    if item.kind != "number" or item.role or item.number is None:
        return None
    sign, adjective, start = _sign_before(items, place)
    bounds = [*find_bounds(items, place, sign, adjective, False)]
    # A single number is no range.
    bounds = [bound for bound in bounds if bound.sign not in ("=", "!=")]
    if not bounds:
        return None
    # With its unit where one stands behind: `under 25 years`.
    longest = max(bounds, key=lambda bound: len(bound.places))
    return _ListedRange(longest, (*range(start, place), *longest.places))


def _sign_before(
    items: Sequence[QuestionItem], place: int
) -> tuple[build.ComparisonSign | Literal["between"] | None, str, int]:
    """The comparison before a number, its first word, and the place where it begins."""
    end = place
    while end and items[end - 1].text in (*MONEY_SIGNS, "age", "the"):
        end -= 1
    for size in range(min(MAX_SIGN_WORDS, end), 0, -1):
        texts = [item.text for item in items[end - size : end] if not item.role]
        sign = COMPARATIVES.get(" ".join(texts))
        if sign is not None and len(texts) == size:
            return sign, texts[0], end - size  # type: ignore[return-value]
    if end and items[end - 1].text in ("between", "from", "aged"):
        return "between", "", end - 1
    return None, "", place


def _neighbours(ranges: Sequence[_ListedRange], items: Sequence[QuestionItem]) -> list[_ListedRange]:
    """The first ranges that only links stand between."""
    joined: list[_ListedRange] = []
    for current in ranges:
        if joined and not _are_linked(items, joined[-1].places[-1], current.places[0]):
            if len(joined) > 1:
                return joined
            joined = []
        joined.append(current)
    return joined


def _are_linked(items: Sequence[QuestionItem], end: int, start: int) -> bool:
    """Tell if only links stand between a range that ends at `end` and one that begins at `start`."""
    between = items[end + 1 : start]
    # Not even a comma between them: `25 49 50 74` lists numbers.
    if not between or len(between) > MAX_GAP:
        return False
    earlier = {item.text for item in items[:end]}
    # Words that were there before the first range may be repeated: `of cows over 6 and of cows under 6`.
    return all(
        item.text in _RANGE_LINKS | _END_WORDS | earlier or item.row_tables or item.role for item in between
    )


def _overlap(ranges: Sequence[_ListedRange]) -> bool:
    """Tell if several numbers lie in two of the ranges, which then are conditions and no groups.

    A number that ends one range and begins the next one belongs to that which is named first.
    """
    limits = sorted(r.limits for r in ranges)
    return any(first[1] > second[0] or first == second for first, second in pairwise(limits))


def _ranged_column(
    reading: QuestionReading, ranges: Sequence[_ListedRange]
) -> tuple[Reference, list[int]] | None:
    """The number that the ranges are of, named before or behind them or meant by them, and its places."""
    items, first, last = reading.text.items, ranges[0].places[0], ranges[-1].places[-1]
    before = range(first - 1, max(first - MAX_COLUMN_DISTANCE, 0) - 1, -1)
    for place in (*before, *range(last + 1, min(last + 2, len(items)))):
        match = next((m for m in items[place].columns if is_measurable(m.column)), None)
        if match is not None and match.score >= MIN_NAMED_SCORE and not items[place].role:
            low, high = min(place, first), max(place, last)
            nearby = [p for p in (*range(low, first), *range(last + 1, high + 1)) if _belongs(items[p])]
            nearby += [low - 1] if low and items[low - 1].text in _KEY_WORDS else []
            return Reference(match.table, match.column), [place, *nearby]
        if not _belongs(items[place]):
            break
    for entry in ranges:
        for reference, _ in meant_columns(entry.bound, reading):
            return reference, []
    return None


def _belongs(item: QuestionItem) -> bool:
    """Tell if a word links the name of a column with its ranges."""
    return item.text in _CLASS_WORDS | _COLUMN_LINKS


_AFTER_WORDS = frozenset({"after", "afterwards", "since", "onwards"})
"""Words for the later side, where the earlier one was named with its year: `before 2018 and after`."""
_PRONOUNS = frozenset({"that", "it", "then", "this"})
"""Words that stand for the year or day that was named: `before 2018 and after that`."""


def parse_turning_points(reading: QuestionReading) -> None:
    """Parse a year or day that rows are before or after, as groups: `before versus after 2018`."""
    if match := reading.text.find("before and|versus|vs|or|than after N|D=point"):
        point = reading.text.required(match, "point")
        if _group_by_side(reading, point, match.places):
            return
    _parse_distant_sides(reading)


def _parse_distant_sides(reading: QuestionReading) -> None:
    """Parse the first sides of a point with words between them: `before 2018 and how many after`."""
    items = reading.text.items
    for place, item in enumerate(items[:-1]):
        if item.text not in ("before", "after") or item.role:
            continue
        others = _AFTER_WORDS if item.text == "before" else frozenset({"before"})
        point, other_side = items[place + 1], _find_behind_links(items, place + 2, others)
        if other_side is None or point.role:
            continue
        end = other_side + 1
        if end < len(items) and (items[end].text == point.text or items[end].text in _PRONOUNS):
            end += 1
        if end < len(items) and items[end].kind in ("number", "date"):
            return  # two points: `before 2018 or after 2020`
        # Nouns of rows between the sides stay for the figure: `hired before 2018 and how many people after`.
        links = [p for p in range(place + 2, other_side) if not items[p].row_tables]
        _group_by_side(reading, point, [place, place + 1, *links, *range(other_side, end)])
        return


def _group_by_side(reading: QuestionReading, point: QuestionItem, places: Sequence[int]) -> bool:
    """Add the groups before and after a point, and tell if there are any. `places`: of their words."""
    value = _side_of(reading, point, places[0])
    if value is None:
        return False
    year_column = [places[0] - 1] if value.label == YEAR_SIDE else []
    reading.text.use([*year_column, *places], "group")
    reading.keys.append(value)
    return True


def _find_behind_links(items: Sequence[QuestionItem], start: int, texts: frozenset[str]) -> int | None:
    """Find the first place of one of some words, behind at least one link and nothing but links."""
    for place in range(start, min(start + MAX_GAP, len(items))):
        if items[place].text in texts:
            return place if place > start else None
        if items[place].text not in _RANGE_LINKS and not items[place].row_tables:
            return None
    return None


YEAR_SIDE, DATE_SIDE = "years", "time"
"""Labels of groups of rows before and after a year that a column stores, and of those of their dates."""


def _side_of(reading: QuestionReading, point: QuestionItem, place: int) -> Value | None:
    """The side of a year or day on which the date of a row lies. `place`: that of `before` or `after`."""
    year = as_year(point) if point.kind == "number" else None
    before = reading.text.items[place - 1] if place else None
    stored = next((m for m in before.columns if holds_years(m.column)), None) if before else None
    if stored is not None and year is not None:
        is_before = build.compare("<", Reference(stored.table, stored.column).expression, build.literal(year))
    else:
        reference = date_reference(reading, PhraseMatch([place, place + 1]))
        if reference is None or (year is None and point.kind != "date"):
            return None
        start = date(year, 1, 1).isoformat() if year is not None else point.text[:10]
        is_before = build.compare("<", reference.expression, build.moment(start))
    # The point belongs to the later side, so that no row is on neither.
    labels = [f"before {point.text}", f"{point.text} and after"]
    label = YEAR_SIDE if stored is not None and year is not None else DATE_SIDE
    return _cases([is_before, build.negate(is_before)], labels, label)
