"""Conditions on spans between two days, with their years, with one year, or of every year."""

from datetime import date, datetime, timedelta
from typing import NamedTuple

from app.agents.questions.conditions.date_columns import date_reference
from app.agents.questions.conditions.date_spans import add_date, as_year, between_days
from app.agents.questions.grammar_words import MONTH_NUMBERS, ORDINALS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import QuestionReading
from app.agents.questions.tables.scope import Reference
from app.plans import build

_LINKS = "and|to|until|till|through"
_LOW, _HIGH = "N|@ordinal|@nth=low", "N|@ordinal|@nth=high"
_LOW_MONTH, _HIGH_MONTH = "@month=low_month", "@month=high_month"
_LOW_YEAR, _HIGH_YEAR = ",? N?=low_year", ",? N?=high_year"
_SPANS = (
    f"between|from {_LOW} of? {_LOW_MONTH} {_LOW_YEAR} {_LINKS} {_HIGH} of? {_HIGH_MONTH} {_HIGH_YEAR}",
    f"between|from {_LOW_MONTH} {_LOW} {_LOW_YEAR} {_LINKS} {_HIGH_MONTH} {_HIGH} {_HIGH_YEAR}",
    f"between|from {_LOW} {_LINKS} {_HIGH} of? {_HIGH_MONTH} {_HIGH_YEAR}",
    f"between|from {_LOW_MONTH} {_LOW} {_LINKS} {_HIGH} {_HIGH_YEAR}",
)
"""Two days of months, of which a month or year that both have stands once: `from 3 to 7 March 2024`."""
LEAP_YEAR = 2000
"""A year that has every day of the calendar, for days without a year."""


class _Day(NamedTuple):
    month: int
    day: int

    def of_year(self, year: int) -> date | None:
        try:
            return date(year, self.month, self.day)
        except ValueError:
            return None

    @property
    def number(self) -> int:
        """Month and day as one number that sorts as the calendar does: March 7 is 307."""
        return self.month * 100 + self.day


def day_number(item: QuestionItem | None) -> int | None:
    """Return the day of a month that a number or ordinal says."""
    if item is None:
        return None
    if item.number is not None:
        return int(item.number) if item.number == int(item.number) else None
    digits = item.text[:-2] if item.text[-2:] in ("st", "nd", "rd", "th") else ""
    return int(digits) if digits.isdigit() and len(digits) <= 2 else ORDINALS.get(item.word)


def parse_day_spans(reading: QuestionReading) -> None:
    """Parse two days: `between 2024-01-05 and 2024-02-01`, `from 15 April to 15 May`."""
    while match := reading.text.find("between|from D=low and|to|until D=high"):
        reference = date_reference(reading, match)
        if reference is None:
            return
        low, high = (
            datetime.fromisoformat(reading.text.required(match, name).text).date() for name in ("low", "high")
        )
        # The last day belongs to the span with all of its hours.
        add_date(reading, match, between_days(reference, low, high + timedelta(days=1)), reference)
    for phrase in _SPANS:
        start = 0
        while match := reading.text.find(phrase, start):
            start = match.places[0] + 1
            _add_span(reading, match)


def _add_span(reading: QuestionReading, match: PhraseMatch) -> None:
    low, high, reference = _day(reading, match, "low"), _day(reading, match, "high"), date_reference(reading)
    if low is None or high is None or reference is None:
        return
    low_year, high_year = (as_year(reading.text.item(match, name)) for name in ("low_year", "high_year"))
    is_open = not any(match.names.get(name) for name in ("low_year", "high_year"))
    if is_open and low.number <= high.number:
        low_year = _only_year(reference)
    if low_year is None and high_year is None:
        # A number behind the span that is no year belongs to something else.
        if is_open:
            _add_days_of_every_year(reading, match, reference, low, high)
        return
    is_over_year = low.number > high.number
    end_year = high_year or (low_year or 0) + is_over_year
    first, last = low.of_year(low_year or end_year - is_over_year), high.of_year(end_year)
    if first is not None and last is not None:
        add_date(reading, match, between_days(reference, first, last + timedelta(days=1)), reference)


def _only_year(reference: Reference) -> int | None:
    """Return the year of all times of a column, if it is one."""
    first, last = (str(bound)[:4] for bound in (reference.column.low, reference.column.high))
    return int(first) if first == last and first.isdigit() else None


def _day(reading: QuestionReading, match: PhraseMatch, end: str) -> _Day | None:
    number = day_number(reading.text.item(match, end))
    months = [reading.text.item(match, f"{name}_month") for name in (end, "low", "high")]
    month = next((MONTH_NUMBERS[item.word] for item in months if item), None)
    if number is None or month is None:
        return None
    day = _Day(month, number)
    return day if day.of_year(LEAP_YEAR) else None


def _add_days_of_every_year(
    reading: QuestionReading, match: PhraseMatch, reference: Reference, low: _Day, high: _Day
) -> None:
    month, day = (build.date_part(part, reference.expression) for part in ("month", "day"))
    number = build.arithmetic("+", build.arithmetic("*", month, build.literal(100)), day)
    bounds = [
        build.compare(">=", number, build.literal(low.number)),
        build.compare("<=", number, build.literal(high.number)),
    ]
    # From December 20 to January 10 a year ends: a day is behind the one or before the other.
    is_over_year = low.number > high.number
    add_date(reading, match, build.either(bounds) if is_over_year else build.every(bounds), reference)
