"""Bounds of dates and years that a goal sets on its rows: "since 2019", "later than 30 September"."""

import re
from collections.abc import Iterator, Sequence

from app.agents.goals.conditions.row_conditions import Operator, RowCondition
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.stemming import stem, stems
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import MONTHS

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH_NAME = rf"(?P<month>{'|'.join(MONTHS)})"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_SINCE = re.compile(
    r"\b(?P<side>since|after|before|until|later than|earlier than|starting|newer than|older than) (?:the )?"
    rf"(?:(?:{_DAY}\s+)?{_MONTH_NAME}(?:\s+(?P<year2>(?:19|20)\d\d))?|{_YEAR})\b",
    re.IGNORECASE,
)
_BEFORE_SIDES = frozenset({"before", "until", "earlier than", "older than"})


def date_conditions(text: str, table: TableProfile, target: str | None) -> Iterator[RowCondition]:
    """Yield bounds of dates and years: "since 2019", "later than 30 September"."""
    dates = [column for column in table.dates if column.name != target]
    years = _year_columns(table, target)
    for match in _SINCE.finditer(text):
        side = " ".join(match["side"].casefold().split())
        operator: Operator = (
            "below" if side in _BEFORE_SIDES else ("at_least" if side in ("since", "starting") else "above")
        )
        year = match["year"] or match["year2"]
        # Behind a whole year or month, what begins with the next one is meant, its first moment included.
        bound: Operator = "at_least" if operator == "above" and not match["day"] else operator
        moments = {date.name: _moment(match, year, date, operator) for date in dates}
        # A bound that no date crosses belongs to another column: cars built since 2015, all listed in 2024.
        crossed = [date for date in dates if _crosses(moments[date.name], date)]
        spanning_years = [column for column in years if year and column.spans(int(year))]
        if spanning_years and not crossed and not match["month"]:
            yield RowCondition(column=spanning_years[0].name, operator=operator, values=[int(year)])
        elif dates:
            dates_of_verb = [
                date for date in dates if is_time_of(text[: match.start()].split()[-MAX_VERB_WORDS:], date)
            ]
            date = (dates_of_verb or crossed or dates)[0]
            if moment := moments[date.name]:
                yield RowCondition(column=date.name, operator=bound, values=[moment])
        elif year and years:
            yield RowCondition(column=years[0].name, operator=operator, values=[int(year)])


MAX_VERB_WORDS, MIN_SHARED_LETTERS = 3, 4
"""Words before a bound that may be the verb of its event, and letters that verb and name begin with."""
_BIRTHS = frozenset({"birth", "birthday", "birthdate", "dob"})


def is_time_of(verb: Sequence[str], date: Column) -> bool:
    """Test if a verb is that of the event of a date: "signed up" of `signup_date`, "born" of `dob`."""
    names = [word for word in words(date.name) if word not in ("date", "time")]
    for word in (part.casefold() for part in verb):
        if word == "born" and _BIRTHS & {*names}:
            return True
        own = stem(word)
        if len(own) >= MIN_SHARED_LETTERS and any(name.startswith(own) or stem(name) == own for name in names):
            return True
    return False


def _crosses(moment: str | None, date: Column) -> bool:
    """Test if a bound in ISO 8601 lies between the first and the last day of a date column."""
    return moment is not None and str(date.low)[: len("2024-01-31")] < moment <= str(date.high)


def _moment(match: re.Match[str], year: str | None, column: Column, operator: str) -> str | None:
    """Return a bound in ISO 8601. Behind a whole month or year (`after 2019`) its end counts."""
    year = year or str(column.high)[:4]
    if not year.isdigit():
        return None
    if not match["month"]:
        return f"{int(year) + (operator == 'above')}-01-01"
    month = MONTHS.index(match["month"].casefold()) + 1
    if match["day"]:
        return f"{year}-{month:02}-{int(match['day']):02}" + ("T23:59:59" if operator == "above" else "")
    if operator == "above" and month == DECEMBER:
        return f"{int(year) + 1}-01-01"
    return f"{year}-{month + (operator == 'above'):02}-01"


DECEMBER = 12
"""Number of the month whose next one is in the next year."""


def _year_columns(table: TableProfile, target: str | None) -> list[Column]:
    return [
        column
        for column in table.columns
        if column.type == "integer" and column.name != target and {"year", "season"} & set(stems(column.name))
    ]
