"""Conditions on years: of dates, and of columns of whole numbers that hold years."""

from datetime import date

from app.agents.goals.words.tokenizer import words
from app.agents.questions.conditions.date_columns import date_reference, part_column
from app.agents.questions.conditions.date_spans import (
    BOUNDS,
    PREPOSITIONS,
    add_date,
    as_year,
    bound_of_period,
    bound_word,
    bounded,
)
from app.agents.questions.phrases import PhraseMatch
from app.agents.questions.question_reading import (
    Condition,
    QuestionReading,
)
from app.agents.questions.tables.scope import Reference
from app.agents.questions.tables.years import MAX_YEAR, MIN_YEAR, holds_years
from app.plans import build

_YEAR_SIGNS: dict[str, build.ComparisonSign] = {"before": "<", "after": ">", "since": ">=", "until": "<="}


def parse_stored_years(reading: QuestionReading) -> None:
    """Parse a year behind the name of a column of years, which is no date of the rows: `built after 1990`."""
    start = 0
    while match := reading.text.find("C=column before|after|since|until N=year", start):
        start = match.places[0] + 1
        item, number = reading.text.required(match, "column"), reading.text.required(match, "year").number
        best = next((m for m in item.columns if holds_years(m.column) and m.score >= MIN_YEARS_SCORE), None)
        if best is None or number is None or not MIN_YEAR <= number <= MAX_YEAR:
            continue
        reference = Reference(best.table, best.column)
        sign = next(_YEAR_SIGNS[reading.text.items[p].text] for p in match.places[1:])
        expression = build.compare(sign, reference.expression, build.literal(int(number)))
        reading.text.use(match.places, "condition")
        reading.conditions.append(Condition(expression, reference, place=match.places[0]))


MIN_YEARS_SCORE = 0.9
"""Score of a column of years that a word names in full."""


def parse_years(reading: QuestionReading) -> None:
    """Parse years: `in 2012`, `since 2015`, of dates or of a column of years."""
    for phrase in (f"{PREPOSITIONS}|year=bound the? year? N=year", "C=column year? N=year", "N=year"):
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
            reference = date_reference(reading, match)
            column = part_column(reading, "year")
            if column is None and bound_word(reading, match) != "from":  # `wines from 2010` are of 2010
                column = _column_of_years(reading, year, reference)
            if phrase == "N=year" and not _is_among_years(year, column or reference):
                continue
            if column:
                sign = BOUNDS.get(bound_of_period(reading, match), "=")
                add_date(reading, match, build.compare(sign, column.expression, build.literal(year)), column)  # type: ignore[arg-type]
            elif reference:
                add_date(
                    reading,
                    match,
                    bounded(reference, bound_of_period(reading, match), date(year, 1, 1), date(year + 1, 1, 1)),
                    reference,
                )


def _column_of_years(reading: QuestionReading, year: int, date: Reference | None) -> Reference | None:
    """The only column of years that a year lies in where no date does: `before 2012` of a `vintage`."""
    if date is not None and _is_among_years(year, date):
        return None
    main = reading.main_tables[:1]
    holders = [
        Reference(table.name, column)
        for table in reading.scope.tables
        for column in table.columns
        if (not main or table.name in main) and holds_years(column)
    ]
    if len(holders) != 1 or not _is_among_years(year, holders[0]):
        return None
    reading.note(f"Years are those of `{holders[0].column.name}`.")
    return holders[0]


def _is_among_years(year: int, reference: Reference | None) -> bool:
    """Tell if a bare number is one of the years of a column: `monthly sales 2023`."""
    if reference is None:
        return False
    bounds = (str(reference.column.low)[:4], str(reference.column.high)[:4])
    return all(bound.isdigit() for bound in bounds) and int(bounds[0]) <= year <= int(bounds[1])


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
