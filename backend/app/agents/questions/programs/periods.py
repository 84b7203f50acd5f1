"""Parts of dates in programs: as groups, and compared with numbers, names and periods of the calendar."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple, get_args

from app.agents.goals.tables.profiles import Column
from app.agents.goals.words.vocabulary import MONTHS, WEEKDAYS
from app.agents.questions.conditions.relative_periods import Unit as CalendarUnit
from app.agents.questions.conditions.relative_periods import period_of
from app.agents.questions.grouping import make_period
from app.agents.questions.programs.program import Part, Scalar
from app.agents.questions.question_reading import NotUnderstood, Value, make_value
from app.agents.questions.tables.scope import Reference, stored_type
from app.agents.questions.tables.years import MAX_YEAR, MIN_YEAR
from app.agents.questions.width_groups import MIN_VALUES, width_of
from app.plans import build
from app.plans.expressions import DatePart, Expression

CALENDAR_UNITS: dict[Part, CalendarUnit] = {
    "year": "year",
    "yearquarter": "quarter",
    "yearmonth": "month",
    "week": "week",
    "day": "day",
}
"""Parts that are whole periods of the calendar, by their unit."""
REPEATED_PARTS: tuple[Part, ...] = ("month", "quarter", "weekday", "hour")
"""Parts that come back each year, week or day; they are numbers."""
MONTHS_PER_QUARTER = 3
"""Months of a quarter, the first of which begins it."""
_STORED_PARTS = ("year", *REPEATED_PARTS)
_LEADING_YEAR = re.compile(r"\d{4}(?!\d)")
_MIN_NAME_LETTERS = 3
"""Letters that tell the names of months and weekdays apart."""


class Span(NamedTuple):
    """A stretch of time up to but not including `end`; a moment where that is None."""

    start: datetime
    end: datetime | None


def part_value(reference: Reference, part: Part) -> Value:
    """Make the value of a part of a column, by which rows are grouped in the order of the calendar."""
    if part == "bins":
        return _class_value(reference)
    if stored_type(reference.column) != "datetime":
        return _stored_part(reference, part)
    if part == "month":
        number = build.date_part("month", reference.expression)
        names = [
            (build.compare("=", number, build.literal(n)), build.literal(name.capitalize()))
            for n, name in enumerate(MONTHS, 1)
        ]
        # Names of months sort by the alphabet: the groups are sorted by the number behind.
        return Value(build.case(names, None), "month of the year", "text", order=number)
    if part == "quarter":
        return Value(build.date_part("quarter", reference.expression), "quarter of the year", "integer")
    return make_period(reference, CALENDAR_UNITS.get(part, part))


def _stored_part(reference: Reference, part: Part) -> Value:
    """The part of a date where a column holds it as such: years, months of the year, names of weekdays."""
    column = reference.column
    if part == "hour" and column.type == "number" and not column.is_stored_as_text:
        # Times of day are stored as hours: half past six is 6.5.
        return Value(build.cast_to("integer", build.call("floor", reference.expression)), "hour", "integer")
    if part in _STORED_PARTS and column.is_number and not column.is_stored_as_text:
        return make_value(reference)
    if part == "year" and has_leading_years(column):
        digits = build.call("substring", reference.expression, build.literal(1), build.literal(4))
        return Value(build.cast_to("integer", digits), "year", "integer")
    if column.type != "text" or part not in ("month", "quarter", "weekday"):
        raise NotUnderstood(f"`{column.name}` holds no dates, so that it has no {part}.")
    return make_value(reference)


def has_leading_years(column: Column) -> bool:
    """Tell if the texts of a column begin with a year, so that they sort by time: `2022/23`, `2023 spring`."""
    texts = [str(value) for value in (*column.values, *column.examples)]
    return column.type == "text" and bool(texts) and all(_LEADING_YEAR.match(text) for text in texts)


def _class_value(reference: Reference) -> Value:
    """The lower bound of the class of round width in which a number lies; of few numbers each is its own."""
    column = reference.column
    if not column.is_number or column.is_stored_as_text:
        raise NotUnderstood(f"`{column.name}` holds no numbers, so that it has no ranges.")
    width = width_of(column)
    if column.distinct < MIN_VALUES or width is None:
        return make_value(reference)
    number = build.literal(width)
    lower = build.arithmetic(
        "*", build.call("floor", build.arithmetic("/", reference.expression, number)), number
    )
    return Value(lower, f"{column.name} from", "number", reference)


def compare_part(reference: Reference, part: Part, sign: build.ComparisonSign, value: Scalar) -> Expression:
    """Compare a part of a date with a number, a name or a period of the calendar."""
    operand = reference.expression
    span = _period(part, value) if part in CALENDAR_UNITS else None
    if span is not None:
        return compare_time(operand, sign, span)
    # The twentieth week, the first day of a month.
    name: DatePart = part  # type: ignore[assignment]
    if part not in get_args(DatePart) or part == "year":
        raise NotUnderstood(f"{value!r} is no {part} of `{reference.column.name}`.")
    return build.compare(sign, build.date_part(name, operand), build.literal(part_number(part, value)))


def is_part_of(reference: Reference, part: Part, values: Sequence[Scalar]) -> Expression:
    """Tell if a part of a date is one of some values."""
    if part in REPEATED_PARTS:
        numbers = [part_number(part, value) for value in values]
        return build.is_one_of(build.date_part(part, reference.expression), numbers)  # type: ignore[arg-type]
    return build.either([compare_part(reference, part, "=", value) for value in values])


def lies_between_parts(reference: Reference, part: Part, low: Scalar, high: Scalar) -> Expression:
    """Tell if a part of a date lies between two values, both included; from November to March over the year."""
    bounds = [compare_part(reference, part, ">=", low), compare_part(reference, part, "<=", high)]
    is_over_end = part in REPEATED_PARTS and part_number(part, low) > part_number(part, high)
    return build.either(bounds) if is_over_end else build.every(bounds)


def part_number(part: Part, value: Scalar) -> int:
    """The number of a part of a date: 5 for `May`, 6 for `Saturday`, 3 for `Q3`."""
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(part, ())
    text = str(value).strip().casefold()
    for number, name in enumerate(names, 1):
        if len(text) >= _MIN_NAME_LETTERS and name.startswith(text[:_MIN_NAME_LETTERS]):
            return number
    digits = text.removeprefix("q").removesuffix(".0")
    if not digits.isdecimal():
        raise NotUnderstood(f"{value!r} is no {part}.")
    return int(digits)


def _period(part: Part, value: Scalar) -> Span | None:
    """The whole periods of the calendar that a value lies in."""
    span = read_span(value)
    if span is None:
        return None
    period: Any = period_of(CALENDAR_UNITS[part], span.start.date())
    start, end = (datetime.combine(day, time()) for day in (period.start, period.end))
    return Span(start, max(end, span.end or end))


_FORMS = (
    re.compile(r"(?P<year>\d{4})"),
    re.compile(r"(?P<year>\d{4})-(?P<month>\d{1,2})"),
    re.compile(r"(?P<year>\d{4})[- ]?q(?P<quarter>[1-4])"),
    re.compile(r"(?P<year>\d{4})[- ]?w(?P<week>\d{1,2})"),
)


def read_span(value: Scalar) -> Span | None:
    """Read a year, quarter, month, week, day or moment; None for anything else."""
    text = str(value).strip().casefold()
    match = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    try:
        if match is not None:
            return _written_period(match)
        moment = datetime.fromisoformat(str(value).strip())
    except (ValueError, OverflowError):
        return None
    return Span(moment, None) if ":" in text else Span(moment, moment + timedelta(days=1))


def _written_period(match: re.Match[str]) -> Span | None:
    parts = {name: int(digits) for name, digits in match.groupdict().items()}
    year = parts["year"]
    if not MIN_YEAR <= year <= MAX_YEAR:
        return None
    unit: CalendarUnit = "year"
    first = date(year, 1, 1)
    if "month" in parts:
        unit, first = "month", date(year, parts["month"], 1)
    elif "quarter" in parts:
        unit, first = "quarter", date(year, MONTHS_PER_QUARTER * parts["quarter"] - 2, 1)
    elif "week" in parts:
        unit, first = "week", date.fromisocalendar(year, parts["week"], 1)
    period = period_of(unit, first)
    return Span(datetime.combine(period.start, time()), datetime.combine(period.end, time()))


def compare_time(operand: Expression, sign: build.ComparisonSign, span: Span) -> Expression:
    """Compare times with a stretch of time: `after May` begins where May ends."""
    start, end = (build.moment(moment.isoformat()) for moment in (span.start, span.end or span.start))
    if span.end is None:
        return build.compare(sign, operand, start)
    match sign:
        case "=":
            return build.every([build.compare(">=", operand, start), build.compare("<", operand, end)])
        case "!=":
            return build.either([build.compare("<", operand, start), build.compare(">=", operand, end)])
        case "<" | ">=":
            return build.compare(sign, operand, start)
        case "<=":
            return build.compare("<", operand, end)
    return build.compare(">=", operand, end)
