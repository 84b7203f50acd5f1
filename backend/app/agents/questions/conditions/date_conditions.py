"""Conditions on dates: years, months, quarters, weekdays, days, and the last ones of the data."""

from calendar import monthrange
from datetime import date, datetime, timedelta
from itertools import pairwise

from app.agents.questions.conditions.compared_periods import parse_compared_periods
from app.agents.questions.conditions.date_columns import date_reference, is_spelled_in, part_column
from app.agents.questions.conditions.date_spans import (
    BOUNDS,
    PREPOSITIONS,
    add_date,
    as_year,
    between_days,
    bound_of_period,
    bound_word,
    bounded,
    month_span,
    months_between,
    parse_month_spans,
    parse_year_spans,
)
from app.agents.questions.conditions.day_spans import LEAP_YEAR, day_number, parse_day_spans
from app.agents.questions.conditions.relative_periods import parse_relative_periods
from app.agents.questions.conditions.times_of_day import parse_times_of_day
from app.agents.questions.conditions.year_conditions import parse_stored_years, parse_years
from app.agents.questions.grammar_words import MONTH_NUMBERS, ORDINALS, QUARTER_NUMBERS, WEEKDAY_NUMBERS
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    Condition,
    ImpossibleRequest,
    QuestionReading,
    Value,
)
from app.plans import build


def parse_date_conditions(reading: QuestionReading) -> None:
    """Parse conditions on times. Tables without dates may have columns of years, months and days."""
    for rule in (
        # Longer phrases come first: `31 Dec 2022` would else be December 2022, and `in May 2013` the May of
        # every year.
        parse_times_of_day,
        parse_stored_years,
        parse_compared_periods,
        parse_day_spans,
        parse_year_spans,
        parse_month_spans,
        _parse_days,
        _parse_month_years,
        _parse_quarters,
        _parse_half_years,
        _parse_month_ranges,
        _parse_months,
        parse_years,
        parse_relative_periods,
        _parse_weekdays,
    ):
        rule(reading)
    _take_names(reading)


def _take_names(reading: QuestionReading) -> None:
    """Take the names of columns right before their times for a part of the condition: `due before May`."""
    columns = [c.column.column for c in reading.conditions if c.is_date and c.column]
    for place, (item, following) in enumerate(pairwise(reading.text.items)):
        is_plain = item.kind == "word" and not (item.role or item.values or item.row_tables)
        if is_plain and following.role == "condition" and any(is_spelled_in(item, c) for c in columns):
            reading.text.use([place], "condition")


def _parse_days(reading: QuestionReading) -> None:
    """Parse whole days: `on 2012-03-01`, `31 Dec 2022`, `December 31, 2022`, `the 4th of August`."""
    for phrase in (
        f"{PREPOSITIONS}?=bound D=day",
        f"{PREPOSITIONS}?=bound N|@ordinal|W=number of? @month=month ,? N=year",
        f"{PREPOSITIONS}?=bound @month=month N|@ordinal|W=number ,? N=year",
        f"{PREPOSITIONS}?=bound N|@ordinal|W=number of? @month=month",
        f"{PREPOSITIONS}?=bound @month=month N|@ordinal|W=number",
    ):
        start = 0
        while match := reading.text.find(phrase, start):
            start = match.places[0] + 1
            if condition := _day_condition(reading, match):
                reading.text.use(match.places, "condition")
                reading.conditions.append(condition)


def _day_condition(reading: QuestionReading, match: PhraseMatch) -> Condition | None:
    day_item, month_item = reading.text.item(match, "day"), reading.text.item(match, "month")
    reference = date_reference(reading, match)
    if day_item is not None:
        if reference is None:
            # A written date means nothing else, so an answer without it would ignore a condition.
            raise ImpossibleRequest(f"No column holds dates such as {day_item.text}.")
        # `9999-12-31` of an open end has no day after it.
        day = min(datetime.fromisoformat(day_item.text).date(), date.max - timedelta(days=1))
        return Condition(
            bounded(reference, bound_word(reading, match), day, day + timedelta(days=1)),
            reference,
            is_date=True,
        )
    number, year = day_number(reading.text.item(match, "number")), as_year(reading.text.item(match, "year"))
    if number is None or month_item is None or not 1 <= number <= 31:
        return None
    month = MONTH_NUMBERS[month_item.word]
    if not _is_day(year or LEAP_YEAR, month, number):
        name = f"{month_item.text.capitalize()} {year or ''}".strip()
        # No row has such a day: 0 would sound like an answer about a real one.
        raise ImpossibleRequest(f"{name} has no day {number}.")
    if year is not None and reference is not None:
        day = date(year, month, number)
        return Condition(
            bounded(reference, bound_word(reading, match), day, day + timedelta(days=1)),
            reference,
            is_date=True,
        )
    # A year that cannot be applied is not left out: the same day of every year is another question.
    if match.names.get("year"):
        return None
    months, days = part_column(reading, "month"), part_column(reading, "day")
    if months and days:
        pairs = [(months.expression, month), (days.expression, number)]
    elif reference is not None:
        pairs = [
            (build.date_part("month", reference.expression), month),
            (build.date_part("day", reference.expression), number),
        ]
    else:
        return None
    target = months or reference
    return Condition(
        build.every([build.compare("=", operand, build.literal(right)) for operand, right in pairs]),
        target,
        is_date=True,
    )


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= day <= monthrange(year, month)[1]


def _parse_month_years(reading: QuestionReading) -> None:
    while match := reading.text.find(f"{PREPOSITIONS}?=bound @month=month of? ,? N=year"):
        year, month, reference = (
            as_year(reading.text.item(match, "year")),
            reading.text.item(match, "month"),
            date_reference(reading, match),
        )
        if year is None or month is None:
            return
        years, months = part_column(reading, "year"), part_column(reading, "month")
        number = MONTH_NUMBERS[month.word]
        if reference is not None:
            add_date(
                reading,
                match,
                bounded(reference, bound_of_period(reading, match), *month_span(year, number)),
                reference,
            )
        elif years and months:
            pair = [
                build.compare("=", years.expression, build.literal(year)),
                build.compare("=", months.expression, build.literal(number)),
            ]
            add_date(reading, match, build.every(pair), years)
        else:
            return


# `the last quarter of 2023` is its fourth; without a year the last quarter counts from the latest day.
_QUARTERS = {**ORDINALS, "last": 4}


def _parse_quarters(reading: QuestionReading) -> None:
    for phrase in (
        f"{PREPOSITIONS}? @quarter+=quarter of? N?=year",
        f"{PREPOSITIONS}? @ordinal=ordinal quarter of? N?=year",
        f"{PREPOSITIONS}? last=ordinal quarter of N=year",
    ):
        while match := reading.text.find(phrase):
            reference = date_reference(reading, match)
            ordinal = reading.text.item(match, "ordinal")
            if reference is None:
                return
            quarters = [QUARTER_NUMBERS[item.word] for item in reading.text.list_items(match, "quarter")] or [
                _QUARTERS[ordinal.word if ordinal else "1st"]
            ]
            operand = build.date_part("quarter", reference.expression)
            # Several quarters are named to be set side by side, so that each is a group.
            if len(quarters) > 1:
                reading.text.use(match.places, "condition")
                reading.conditions.append(
                    Condition(
                        build.is_one_of(operand, quarters),
                        reference,
                        tuple(quarters),
                        True,
                        True,
                        match.places[0],
                    )
                )
                reading.keys.append(Value(operand, "quarter", "integer"))
                continue
            condition = build.compare("=", operand, build.literal(quarters[0]))
            if year := as_year(reading.text.item(match, "year")):
                condition = build.every(
                    [
                        condition,
                        build.compare("=", build.date_part("year", reference.expression), build.literal(year)),
                    ]
                )
            add_date(reading, match, condition, reference)


def _parse_half_years(reading: QuestionReading) -> None:
    """Parse half years: `in the second half of 2022`."""
    while match := reading.text.find(f"{PREPOSITIONS}? @ordinal=ordinal half of? N=year"):
        year, reference = as_year(reading.text.item(match, "year")), date_reference(reading, match)
        half = ORDINALS[reading.text.required(match, "ordinal").word]
        if year is None or reference is None or half > 2:
            return
        start, end = month_span(year, 6 * half - 5)[0], month_span(year, 6 * half)[1]
        add_date(reading, match, between_days(reference, start, end), reference)


def _parse_month_ranges(reading: QuestionReading) -> None:
    """Parse months of every year: `June to August`, `between March and May`."""
    for phrase in (
        "between @month=first and @month=last",
        "from|in|during|of|for? @month=first to|until|till|through|- @month=last",
    ):
        while match := reading.text.find(phrase):
            items = (reading.text.item(match, "first"), reading.text.item(match, "last"))
            column, reference = part_column(reading, "month"), date_reference(reading, match)
            target = column or reference
            if target is None:
                return
            first, last = (MONTH_NUMBERS[item.word] for item in items if item)
            operand = column.expression if column else build.date_part("month", target.expression)
            add_date(reading, match, build.is_one_of(operand, months_between(first, last)), target)


# `may` and `march` are verbs as well and need a preposition to be months.
_BARE_MONTHS = "|".join(sorted(month for month in MONTH_NUMBERS if month not in ("may", "march", "mar")))


def _parse_months(reading: QuestionReading) -> None:
    for phrase in (f"{PREPOSITIONS}=bound @month+=month", f"{_BARE_MONTHS}+=month"):
        _parse_named_months(reading, phrase)


def _parse_named_months(reading: QuestionReading, phrase: str) -> None:
    while match := reading.text.find(phrase):
        months = [MONTH_NUMBERS[item.word] for item in reading.text.list_items(match, "month")]
        column, reference = part_column(reading, "month"), date_reference(reading, match)
        target = column or reference
        if target is None:
            return
        operand = column.expression if column else build.date_part("month", target.expression)
        bound = BOUNDS.get(bound_word(reading, match))
        # `orders from June` are those of June alone.
        if bound and bound_word(reading, match) not in ("from", "by"):
            add_date(reading, match, build.compare(bound, operand, build.literal(months[0])), target)  # type: ignore[arg-type]
        elif len(months) == 1:
            add_date(reading, match, build.compare("=", operand, build.literal(months[0])), target)
        else:
            add_date(reading, match, build.is_one_of(operand, months), target)


def _parse_weekdays(reading: QuestionReading) -> None:
    for phrase in (
        "on|at|during|in=on weekends|weekend",
        "on|during weekdays|workdays=work",
        f"{PREPOSITIONS} @weekday+=weekday",
    ):
        match = reading.text.find(phrase)
        reference = date_reference(reading, match) if match else None
        if match is None or reference is None:
            continue
        operand = build.date_part("weekday", reference.expression)
        if items := reading.text.list_items(match, "weekday"):
            numbers = [WEEKDAY_NUMBERS[item.word] for item in items]
        else:
            numbers = [1, 2, 3, 4, 5] if match.names.get("work") else [6, 7]
        add_date(reading, match, build.is_one_of(operand, numbers), reference)
