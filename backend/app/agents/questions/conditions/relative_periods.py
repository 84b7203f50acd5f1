"""Periods that a question counts from now: `last month`, `this year`, `yesterday`, `the last 30 days`.

Now is the latest day of the data. Stored rows may end long before today, and an answer that changed with the
day of asking could not be repeated.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple, cast

from app.agents.goals.tables.profiles import Column
from app.agents.questions.conditions.date_columns import date_reference, part_column
from app.agents.questions.conditions.date_spans import (
    PREPOSITIONS,
    add_date,
    between_days,
    bound_of_period,
    bounded,
)
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, QuestionReading, Value
from app.agents.questions.tables.scope import Reference
from app.plans import build

Unit = Literal["day", "week", "month", "quarter", "year"]

_PERIOD = (
    f"{PREPOSITIONS}?=bound so? far? last|previous|this|current=which week|month|quarter|year=unit so? far?"
)
_TO_DATE = "year|month|quarter|week=unit to date"
_DAY = f"{PREPOSITIONS}?=bound yesterday|today=which"
_COUNTED_UNITS = (
    "in|during|over|of|for? last|past|latest|previous N=number "
    "days|day|weeks|week|months|month|quarters|quarter|years|year=unit"
)
# `the past month` ends with the latest day, `last month` is one of the calendar.
_TRAILING = "in|during|over|of|for? past|latest week|month|quarter|year=unit"
_PARTS = frozenset({"of", "in"})
"""Words between a period and the longer one that it ends: `the last week of December`."""


class Period(NamedTuple):
    """A period of the calendar, up to but not including `end`."""

    unit: Unit
    start: date
    end: date

    @property
    def name(self) -> str | int:
        """The period as it is written in answers. Names of one unit sort by time."""
        match self.unit:
            case "year":
                return self.start.year
            case "quarter":
                return f"{self.start:%Y}Q{(self.start.month + 2) // 3}"
            case "month":
                return f"{self.start:%Y-%m}"
            case "week" | "day":
                return self.start.isoformat()


def parse_relative_periods(reading: QuestionReading) -> None:
    """Parse periods by name, compared if there are several (`this year and last year`), then counted ones."""
    _parse_named_periods(reading)
    _parse_counted(reading)


def _parse_named_periods(reading: QuestionReading) -> None:
    matches = [match for match in _find_named(reading) if not _is_part_of_a_longer_one(reading, match)]
    if not matches:
        return
    reference = date_reference(reading, matches[0])
    if reference is None:
        _parse_stored_years(reading, matches)
        return
    latest = day_of(reference.column.high)
    if latest is None:
        return
    periods = _find_periods(reading, matches, reference.column, latest)
    is_compared = len(periods) > 1
    if is_compared and len({period.unit for period in periods}) > 1:
        return  # `this month vs last year`: no row is of both, and they are no two of a kind
    names = ", ".join(
        f"{_phrase(reading, match)!r} is {period.name}" for match, period in zip(matches, periods, strict=True)
    )
    reading.note(f"{names}, counted from {latest.isoformat()}, the latest day of `{reference.column.name}`.")
    if is_compared:
        _compare(reading, matches, periods, reference)
        return
    bound = bound_of_period(reading, matches[0])
    condition = bounded(reference, bound, periods[0].start, periods[0].end)
    add_date(reading, matches[0], condition, reference)


def _find_named(reading: QuestionReading) -> Iterator[PhraseMatch]:
    """Yield all periods by name, in the order of the question."""
    for phrase in (_PERIOD, _DAY, _TO_DATE):
        start = 0
        while match := reading.text.find(phrase, start):
            yield match
            start = match.places[-1] + 1


def _is_part_of_a_longer_one(reading: QuestionReading, match: PhraseMatch) -> bool:
    """Test if a period ends a longer one, which other rules read: `the last quarter of 2023`."""
    items = reading.text.items[match.places[-1] + 1 :][:2]
    if len(items) < len(("of", "2023")) or items[0].text not in _PARTS:
        return False
    return items[1].kind in ("number", "date") or items[1].word in ("year", "month", "quarter")


def _phrase(reading: QuestionReading, match: PhraseMatch) -> str:
    items = (reading.text.item(match, "which"), reading.text.item(match, "unit"))
    return " ".join(item.text for item in items if item)


def day_of(moment: object) -> date | None:
    """Return the day of a moment in a profile; None where it has none."""
    try:
        return datetime.fromisoformat(str(moment)).date()
    except ValueError:
        return None


def _find_periods(
    reading: QuestionReading, matches: list[PhraseMatch], column: Column, latest: date
) -> list[Period]:
    words = [_which(reading, match) for match in matches]
    periods = []
    for match, which in zip(matches, words, strict=True):
        unit_item = reading.text.item(match, "unit")
        current = period_of(cast("Unit", unit_item.word) if unit_item else "day", latest)
        last = period_before(current)
        # Beside this month the last one is the one before; alone it is the latest whole one.
        if unit_item and not {*words} & _CURRENT and is_whole(current, column, latest):
            last = current
        if which == "previous" and "last" in words:
            last = period_before(last)  # `last month and the previous month`
        periods.append(current if which in _CURRENT else last)
    return periods


_CURRENT = frozenset({"this", "current", "today"})


def _which(reading: QuestionReading, match: PhraseMatch) -> str:
    item = reading.text.item(match, "which")
    return item.text if item else "this"  # the year to date


def period_before(period: Period) -> Period:
    return period_of(period.unit, period.start - timedelta(days=1))


def period_of(unit: Unit, day: date) -> Period:
    """Return the period in which a day lies."""
    match unit:
        case "day":
            return Period(unit, day, day + timedelta(days=1))
        case "week":
            monday = day - timedelta(days=day.weekday())
            return Period(unit, monday, monday + timedelta(days=7))
        case "year":
            return Period(unit, date(day.year, 1, 1), date(day.year + 1, 1, 1))
    months = 3 if unit == "quarter" else 1
    first = day.month - (day.month - 1) % months
    return Period(unit, date(day.year, first, 1), _add_months(date(day.year, first, 1), months))


def _add_months(first: date, months: int) -> date:
    """Return the first day of a month some months after another, or before it."""
    month = first.year * 12 + first.month - 1 + months
    return date(month // 12, month % 12 + 1, 1)


def is_whole(period: Period, column: Column, latest: date) -> bool:
    """Test if the data reach the end of the period of their latest day.

    Dates that are all first days of a period stand for all of it: sums of months, yearly figures.
    """
    if latest + timedelta(days=1) == period.end:
        return True
    earliest = day_of(column.low)
    if earliest is None:
        return False
    span = (latest - earliest).days
    days = (period.end - period.start).days
    # At most one date for each period, and two to spare for both ends: more dates are days of a month that is
    # cut off.
    starts = earliest == period_of(period.unit, earliest).start and latest == period.start
    return starts and column.distinct <= span / days + 2


def _compare(
    reading: QuestionReading, matches: list[PhraseMatch], periods: list[Period], reference: Reference
) -> None:
    """Add the periods as values that the question sets against each other."""
    unit, names = periods[0].unit, tuple(period.name for period in periods)
    spans = [between_days(reference, period.start, period.end) for period in periods]
    if unit == "year":
        group = Value(build.date_part("year", reference.expression), unit, "integer")
    else:
        # Labels hold the year: by its number alone, December would sort behind the January that follows it.
        labels = [(span, build.literal(name)) for span, name in zip(spans, names, strict=True)]
        group = Value(build.case(labels, None), unit, "text")
    places = [place for match in matches for place in match.places]
    reading.text.use(places, "condition")
    reading.conditions.append(
        Condition(
            build.either(spans), reference, names, is_compared=True, is_date=True, place=places[0], group=group
        )
    )


def _parse_stored_years(reading: QuestionReading, matches: list[PhraseMatch]) -> None:
    """Parse `last year` of a table that has a column of years: the highest that is stored."""
    column = part_column(reading, "year")
    latest = column.column.high if column else None
    units = [reading.text.item(match, "unit") for match in matches]
    if column is None or not isinstance(latest, int | float) or any(not u or u.word != "year" for u in units):
        return
    years = [
        int(latest) - (len(matches) > 1 and reading.text.required(match, "which").text in ("last", "previous"))
        for match in matches
    ]
    reading.note(f"Years are counted from {int(latest)}, the latest of `{column.column.name}`.")
    if len(years) == 1:
        condition = build.compare("=", column.expression, build.literal(years[0]))
        add_date(reading, matches[0], condition, column, (years[0],))
        return
    places = [place for match in matches for place in match.places]
    reading.text.use(places, "condition")
    rows = build.is_one_of(column.expression, years)
    reading.conditions.append(
        Condition(rows, column, tuple(years), is_compared=True, is_date=True, place=places[0])
    )


def _parse_counted(reading: QuestionReading) -> None:
    """Parse `the last 30 days` and `the past month`, counted back from the latest day of the data."""
    for phrase in (_COUNTED_UNITS, _TRAILING):
        match = reading.text.find(phrase)
        unit = reading.text.item(match, "unit") if match else None
        reference = date_reference(reading, match) if match else None
        latest = day_of(reference.column.high) if reference else None
        if match is None or unit is None or reference is None or latest is None:
            continue
        start = first_day_back(latest, unit.word.rstrip("s"), _count(reading.text.item(match, "number")))
        reading.note(
            f"Times are counted back from {latest.isoformat()}, the latest of `{reference.column.name}`."
        )
        condition = build.compare(">=", reference.expression, build.moment(start.isoformat()))
        add_date(reading, match, condition, reference)


def _count(item: QuestionItem | None) -> int:
    return int(item.number or 1) if item else 1


def first_day_back(latest: date, unit: str, count: int) -> date:
    """Return the first day of the last `count` units up to a day, and the first of all days at most."""
    try:
        return _first_day_back(latest, unit, count)
    except (ValueError, OverflowError):
        return date.min


def _first_day_back(latest: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return latest - timedelta(days=count * (7 if unit == "week" else 1) - 1)
    if unit == "year":
        # The same day some years ago belongs to the year before: a year up to December 31 begins on January 1.
        days = monthrange(latest.year - count, latest.month)[1]
        return latest.replace(year=latest.year - count, day=min(latest.day, days)) + timedelta(days=1)
    first = latest.replace(day=1)
    return _add_months(first, 1 - count * (3 if unit == "quarter" else 1))
