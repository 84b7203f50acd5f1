"""Texts that name a period (`2004-Q1`, `1939 Jan`, `2020W05`): their patterns, and the SQL of their first day.

The patterns hold for Python's `re` and for DuckDB's RE2 alike.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

PeriodUnit = Literal["year", "quarter", "month", "week"]

_LETTERS = r"[^\W\d_]{3,12}"
_GAP = r"[ _./,-]{0,3}"
_YEAR = r"[12][0-9]{3}"
_ORDINAL = "(?:st|nd|rd|th)?"
_WEEK_WORD = "(?:w|wk|week|kw|cw)"

_STEMS_BY_LANGUAGE = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mrz apr mai jun jul aug sep okt nov dez",
    "jan fev mar avr mai jun jul aou sep oct nov dec",
    "ene feb mar abr may jun jul ago sep oct nov dic",
    "gen feb mar apr mag giu lug ago set ott nov dic",
    "jan fev mar abr mai jun jul ago set out nov dez",
    "jan feb mrt apr mei jun jul aug sep okt nov dec",
)
MONTH_STEMS = tuple(stem for stems in _STEMS_BY_LANGUAGE for stem in stems.split())
"""First letters of the months in seven languages, twelve for each. The French ones are shortened before."""
LAST_TWO_DIGIT_YEAR = 35
"""Two-digit years up to this one belong to this century: series are seldom forecast from later ones."""


@dataclass(frozen=True)
class PeriodName:
    """A way to name periods: `pattern` with the numbers of its groups."""

    name: str
    unit: PeriodUnit
    pattern: str
    year_group: int
    part_group: int = 0
    """Group of the month, quarter or week; 0 for a year."""
    is_month_name: bool = False


PERIOD_NAMES: tuple[PeriodName, ...] = (
    PeriodName("year-quarter", "quarter", rf"({_YEAR}){_GAP}q([1-4])", 1, 2),
    PeriodName("quarter year", "quarter", rf"q([1-4])[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1),
    PeriodName(
        "1q year", "quarter", rf"([1-4])\.?(?:st|nd|rd|th)?[ ]?(?:q|quarter|quartal){_GAP}({_YEAR})", 2, 1
    ),
    PeriodName(
        "year, 1st quarter", "quarter", rf"({_YEAR}){_GAP}([1-4])(?:st|nd|rd|th)?[ ]?(?:q|quarter)", 1, 2
    ),
    PeriodName("year-week", "week", rf"({_YEAR}){_GAP}{_WEEK_WORD}{_GAP}([0-5]?[0-9])", 1, 2),
    PeriodName("week year", "week", rf"{_WEEK_WORD}{_GAP}([0-5]?[0-9])[ _./,-]{{1,3}}({_YEAR})", 2, 1),
    PeriodName("yearMmonth", "month", rf"({_YEAR})m([01]?[0-9])", 1, 2),
    PeriodName("year-month", "month", rf"({_YEAR})[-/. ]([01]?[0-9])", 1, 2),
    PeriodName("month/year", "month", rf"([01]?[0-9])[-/.]({_YEAR})", 2, 1),
    PeriodName("yearmonth", "month", r"((?:1[89]|20)[0-9]{2})(0[1-9]|1[0-2])", 1, 2),
    PeriodName("year month name", "month", rf"({_YEAR}){_GAP}({_LETTERS})\.?", 1, 2, True),
    PeriodName("month name year", "month", rf"({_LETTERS})\.?[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1, True),
    PeriodName("year", "year", rf"(?:x|yr|fy|y)?[ ]?({_YEAR})(?: \[yr[0-9]{{4}}\])?", 1),
)
"""The ways to name periods, in the order of trial."""
PERIOD_NAMES_BY_NAME = {way.name: way for way in PERIOD_NAMES}


def find_month(text: str) -> int | None:
    """Return the month that a word names in full or in short; None for another word."""
    stem = _fold(text)[:3]
    return MONTH_STEMS.index(stem) % 12 + 1 if stem in MONTH_STEMS and len(text) >= 3 else None


def _fold(text: str) -> str:
    folded = text.casefold().translate(str.maketrans("äéèûúàç", "aeeuuac"))
    return folded.replace("juin", "jun").replace("juil", "jul")


@lru_cache(maxsize=4096)
def parse_period(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the name of the way in which a text names a period, with year and part; None if it names none."""
    for way in PERIOD_NAMES:
        match = re.fullmatch(way.pattern, text.strip(), re.IGNORECASE)
        if match is None:
            continue
        part = 1
        if way.is_month_name:
            part = find_month(match[way.part_group]) or 0
        elif way.part_group:
            part = int(match[way.part_group])
        if 1 <= part <= _MAX_PART[way.unit]:
            return way.name, (full_year(match[way.year_group]), part)
    return None


_MAX_PART = {"year": 1, "quarter": 4, "month": 12, "week": 53}


def full_year(text: str) -> int:
    """Return a year of two or four digits as four."""
    if len(text) > 2:
        return int(text)
    return int(text) + (2000 if int(text) <= LAST_TWO_DIGIT_YEAR else 1900)


MIN_NAMED = 3
"""Texts from which a common way of naming periods is no accident."""


def common_way(texts: Sequence[str]) -> PeriodName | None:
    """Return the way in which texts name different periods; None if one names none, or in another way."""
    parsed = [parse_period(text) for text in texts]
    ways = {period[0] for period in parsed if period}
    if len(texts) < MIN_NAMED or len(ways) != 1 or None in parsed or len(set(parsed)) < len(texts):
        return None
    return PERIOD_NAMES_BY_NAME[ways.pop()]


def period_sql(cell: str, way: PeriodName) -> str:
    """SQL of the first day of the period that a text cell names, NULL for another text."""
    pattern = "'" + f"(?i){way.pattern}".replace("'", "''") + "'"
    text = f"trim(CAST({cell} AS VARCHAR))"
    year_text = f"regexp_extract({text}, {pattern}, {way.year_group})"
    year = f"CAST({year_text} AS INTEGER)"
    if "[0-9]{2})" in way.pattern:
        year = (
            f"({year} + CASE WHEN length({year_text}) > 2 THEN 0 "
            f"WHEN {year} <= {LAST_TWO_DIGIT_YEAR} THEN 2000 ELSE 1900 END)"
        )
    part = f"regexp_extract({text}, {pattern}, {way.part_group})"
    day = first_day_sql(
        way.unit, year, month_number_sql(part) if way.is_month_name else f"CAST({part} AS INTEGER)"
    )
    return f"CASE WHEN regexp_full_match({text}, {pattern}) THEN {day} END"


def month_number_sql(text: str) -> str:
    """SQL of the number of the month that a text names, NULL for another text."""
    stems = ", ".join(f"'{stem}'" for stem in MONTH_STEMS)
    short = f"replace(replace(lower(strip_accents({text})), 'juin', 'jun'), 'juil', 'jul')"
    return f"(list_position([{stems}], left({short}, 3)) - 1) % 12 + 1"


def first_day_sql(unit: PeriodUnit, year: str, part: str) -> str:
    """SQL of the first day of a period; of a week its Monday, after ISO 8601."""
    if unit == "year":
        return f"make_date({year}, 1, 1)"
    if unit == "week":
        return f"(date_trunc('week', make_date({year}, 1, 4)) + to_days(7 * ({part} - 1)))"
    return f"make_date({year}, {f'3 * ({part}) - 2' if unit == 'quarter' else part}, 1)"
