"""Conditions on dates: years, months, quarters, weekdays, days, and the last ones of the data."""

from datetime import date, datetime, timedelta

from app.agents.goals.tokenizer import words
from app.agents.questions.date_columns import date_reference, part_column
from app.agents.questions.date_spans import (
    BOUNDS,
    PREPOSITIONS,
    add_date,
    as_year,
    bound_word,
    bounded,
    month_span,
    parse_day_spans,
    parse_month_spans,
    parse_year_spans,
)
from app.agents.questions.grammar_words import MONTH_NUMBERS, ORDINALS, QUARTER_NUMBERS, WEEKDAY_NUMBERS
from app.agents.questions.items import QuestionItem
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import Condition, NotUnderstood, QuestionReading, Value
from app.plans import build


def parse_date_conditions(reading: QuestionReading) -> None:
    """Parse conditions on times. Tables without dates may have columns of years, months and days."""
    for rule in (
        parse_day_spans,
        parse_year_spans,
        parse_month_spans,
        _parse_days,
        _parse_month_years,
        _parse_quarters,
        _parse_months,
        _parse_years,
        _parse_last,
        _parse_weekdays,
    ):
        rule(reading)


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
            raise NotUnderstood(f"No column holds dates such as {day_item.text}.")
        day = datetime.fromisoformat(day_item.text).date()
        return Condition(
            bounded(reference, bound_word(reading, match), day, day + timedelta(days=1)),
            reference,
            is_date=True,
        )
    number, year = _day_number(reading.text.item(match, "number")), as_year(reading.text.item(match, "year"))
    if number is None or month_item is None or not 1 <= number <= 31:
        return None
    month = MONTH_NUMBERS[month_item.word]
    if year is not None and reference is not None:
        try:
            day = date(year, month, number)
        except ValueError:
            return None
        return Condition(
            bounded(reference, bound_word(reading, match), day, day + timedelta(days=1)),
            reference,
            is_date=True,
        )
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


def _day_number(item: QuestionItem | None) -> int | None:
    if item is None:
        return None
    if item.number is not None:
        return int(item.number) if item.number == int(item.number) else None
    digits = item.text[:-2] if item.text[-2:] in ("st", "nd", "rd", "th") else ""
    return int(digits) if digits.isdigit() and len(digits) <= 2 else ORDINALS.get(item.word)


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
                bounded(reference, bound_word(reading, match), *month_span(year, number)),
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


def _parse_quarters(reading: QuestionReading) -> None:
    for phrase in (
        f"{PREPOSITIONS}? @quarter+=quarter of? N?=year",
        f"{PREPOSITIONS}? @ordinal=ordinal quarter of? N?=year",
    ):
        while match := reading.text.find(phrase):
            reference = date_reference(reading, match)
            ordinal = reading.text.item(match, "ordinal")
            if reference is None:
                return
            quarters = [QUARTER_NUMBERS[item.word] for item in reading.text.list_items(match, "quarter")] or [
                ORDINALS[ordinal.word if ordinal else "1st"]
            ]
            operand = build.date_part("quarter", reference.expression)
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


def _parse_months(reading: QuestionReading) -> None:
    while match := reading.text.find(f"{PREPOSITIONS}=bound @month+=month"):
        months = [MONTH_NUMBERS[item.word] for item in reading.text.list_items(match, "month")]
        column, reference = part_column(reading, "month"), date_reference(reading, match)
        target = column or reference
        if target is None or (bound_word(reading, match) == "may"):
            return
        operand = column.expression if column else build.date_part("month", target.expression)
        bound = BOUNDS.get(bound_word(reading, match))
        if bound and bound_word(reading, match) not in ("from", "by"):
            add_date(reading, match, build.compare(bound, operand, build.literal(months[0])), target)  # type: ignore[arg-type]
        elif len(months) == 1:
            add_date(reading, match, build.compare("=", operand, build.literal(months[0])), target)
        else:
            add_date(reading, match, build.is_one_of(operand, months), target)


def _parse_years(reading: QuestionReading) -> None:
    for phrase in (f"{PREPOSITIONS}|year=bound the? year? N=year", "C=column year? N=year"):
        start = 0
        while match := reading.text.find(phrase, start):
            start = match.places[0] + 1
            year = as_year(reading.text.item(match, "year"))
            if year is None:
                continue
            mentioned = reading.text.item(match, "column")
            if mentioned is not None and not any(
                m.column.type == "datetime" or "year" in words(m.column.name) for m in mentioned.columns
            ):
                continue
            if match.places and _followed_by_unit(reading, match):
                continue
            column, reference = part_column(reading, "year"), date_reference(reading, match)
            if column:
                sign = BOUNDS.get(bound_word(reading, match), "=")
                add_date(reading, match, build.compare(sign, column.expression, build.literal(year)), column)  # type: ignore[arg-type]
            elif reference:
                add_date(
                    reading,
                    match,
                    bounded(reference, bound_word(reading, match), date(year, 1, 1), date(year + 1, 1, 1)),
                    reference,
                )


def _followed_by_unit(reading: QuestionReading, match: PhraseMatch) -> bool:
    following = match.places[-1] + 1
    return following < len(reading.text.items) and reading.text.items[following].word in (
        "kg",
        "km",
        "g",
        "euro",
        "dollars",
        "kcal",
        "usd",
        "eur",
    )


def _parse_last(reading: QuestionReading) -> None:
    """Parse `last month` and `the last 30 days`, counted back from the latest day of the data."""
    for phrase in (
        (
            "in|during|over|of|for? last|past|latest|previous N=number days|day|weeks|week|months|"
            "month|years|year=unit"
        ),
        "in|during|over|for last|latest|previous month|quarter|year|week=unit",
    ):
        match = reading.text.find(phrase)
        unit = reading.text.item(match, "unit") if match else None
        reference = date_reference(reading, match) if match else None
        if match is None or unit is None or reference is None:
            continue
        try:
            latest = datetime.fromisoformat(str(reference.column.high)).date()
        except ValueError:
            continue
        number = reading.text.item(match, "number")
        count = int(number.number or 1) if number else 1
        start = _back(latest, unit.word.rstrip("s"), count, number is not None)
        reading.note(
            f"Times are counted back from {latest.isoformat()}, the latest of `{reference.column.name}`."
        )
        add_date(
            reading,
            match,
            build.compare(">=", reference.expression, build.moment(start.isoformat())),
            reference,
        )


def _back(latest: date, unit: str, count: int, is_counted: bool) -> date:
    if unit == "day":
        return latest - timedelta(days=count - 1)
    if unit == "week":
        return (
            latest - timedelta(days=7 * count - 1) if is_counted else latest - timedelta(days=latest.weekday())
        )
    if unit == "year":
        return (
            latest.replace(year=latest.year - count, day=min(latest.day, 28))
            if is_counted
            else date(latest.year, 1, 1)
        )
    months = count * (3 if unit == "quarter" else 1)
    first = latest.year * 12 + latest.month - months
    if unit == "quarter" and not is_counted:
        return date(latest.year, 3 * ((latest.month - 1) // 3) + 1, 1)
    return date(first // 12, first % 12 + 1, 1)


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
