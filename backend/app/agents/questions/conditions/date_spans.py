"""Conditions on spans of time, and what all conditions on times are made of."""

from datetime import date
from itertools import pairwise

from app.agents.questions.conditions.date_columns import date_reference, part_column
from app.agents.questions.grammar_words import CLASSES, MONTH_NUMBERS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, QuestionReading
from app.agents.questions.tables.scope import Reference
from app.plans import build
from app.plans.expressions import Expression, Scalar

MIN_YEAR, MAX_YEAR = 1500, 2100
"""Numbers that are taken for years."""
BOUNDS = {
    "since": ">=",
    "from": ">=",
    "after": ">",
    "before": "<",
    "until": "<=",
    "till": "<=",
    "through": "<=",
    "by": "<=",
}


def add_date(
    reading: QuestionReading,
    match: PhraseMatch,
    expression: Expression,
    reference: Reference,
    values: tuple[Scalar, ...] = (),
) -> None:
    reading.text.use(match.places, "condition")
    reading.conditions.append(Condition(expression, reference, values, is_date=True, place=match.places[0]))


def between_days(reference: Reference, start: date, end: date) -> Expression:
    """From the start up to, not including, the end."""
    return build.every(
        [
            build.compare(">=", reference.expression, build.moment(start.isoformat())),
            build.compare("<", reference.expression, build.moment(end.isoformat())),
        ]
    )


def bounded(reference: Reference, bound: str, start: date, end: date) -> Expression:
    """Before, after, since or until the time from `start` up to `end`."""
    sign = BOUNDS.get(bound)
    if sign is None:
        return between_days(reference, start, end)
    # `after May` begins where May ends, `before May` ends where it begins: neither takes in the month itself.
    moment = start if sign in (">=", "<") else end
    return build.compare(
        ">=" if sign in (">", ">=") else "<", reference.expression, build.moment(moment.isoformat())
    )


def as_year(item: QuestionItem | None) -> int | None:
    if item is None or item.number is None or item.number != int(item.number):
        return None
    return int(item.number) if MIN_YEAR <= item.number <= MAX_YEAR else None


def month_span(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


PREPOSITIONS = "in|during|since|from|after|before|until|till|through|by|on|of|for"


def bound_word(reading: QuestionReading, match: PhraseMatch) -> str:
    item = reading.text.item(match, "bound")
    return item.text if item else ""


_GOES_ON = frozenset({"on", "onward", "onwards", "forward", "forwards", "upward", "upwards", "ahead"})
"""Words behind the beginning of a span without an end: `from 2023 on`."""
_GROUPS_BY = frozenset({"by", "per", "each", "every", "over", "across"})
_BY_TIME = frozenset({"daily", "weekly", "monthly", "quarterly", "yearly", "annual", "annually", "hourly"})


def bound_of_period(reading: QuestionReading, match: PhraseMatch) -> str:
    """The bound of a month, a quarter or a year: `orders from 2023` are of that year.

    It begins a span in `from 2023 on`, and in a course of time: `orders per month from 2023`.
    """
    word = bound_word(reading, match)
    items = reading.text.items
    following = items[match.places[-1] + 1].text if match.places[-1] + 1 < len(items) else ""
    begins_span = following in _GOES_ON or any(
        item.word in _BY_TIME or (item.word in CLASSES["@period"] and before.text in _GROUPS_BY)
        for before, item in pairwise(items)
    )
    return "in" if word == "from" and not begins_span else word


def parse_year_spans(reading: QuestionReading) -> None:
    """Parse two years: `between 2010 and 2012`."""
    while match := reading.text.find("between|from N=low and|to|until|till N=high"):
        first, last = (as_year(reading.text.required(match, name)) for name in ("low", "high"))
        # `between 10 and 20` without a year is a range of numbers, which other rules read.
        if first is None or last is None:
            return
        if column := part_column(reading, "year"):
            bounds = [
                build.compare(">=", column.expression, build.literal(first)),
                build.compare("<=", column.expression, build.literal(last)),
            ]
            add_date(reading, match, build.every(bounds), column)
        elif reference := date_reference(reading, match):
            years = date(first, 1, 1), date(last + 1, 1, 1)
            add_date(reading, match, between_days(reference, *years), reference)
        else:
            return


def months_between(first: int, last: int) -> list[int]:
    """The months from one to another of any year: `November to February` runs over its end."""
    return [*range(first, last + 1)] if first <= last else [*range(first, 13), *range(1, last + 1)]


def parse_month_spans(reading: QuestionReading) -> None:
    """Parse two months: `from May to July 2013`."""
    phrase = "between|from @month=low N?=year and|to|until|till|through @month=high N?=end"
    while match := reading.text.find(phrase):
        low, high = (MONTH_NUMBERS[reading.text.required(match, name).word] for name in ("low", "high"))
        year, end_year = as_year(reading.text.item(match, "year")), as_year(reading.text.item(match, "end"))
        if year is not None and end_year is None:
            end_year = year if low <= high else year + 1
        column, reference = part_column(reading, "month"), date_reference(reading, match)
        # A column of months cannot tell the same month of two years apart.
        target = column if end_year is None and column else reference
        if target is None:
            return
        if end_year is None:
            operand = target.expression if target is column else build.date_part("month", target.expression)
            add_date(reading, match, build.is_one_of(operand, months_between(low, high)), target)
            continue
        # `from November to February 2013` begins in the year before.
        start_year = year or (end_year if low <= high else end_year - 1)
        start, end = month_span(start_year, low)[0], month_span(end_year, high)[1]
        add_date(reading, match, between_days(target, start, end), target)
