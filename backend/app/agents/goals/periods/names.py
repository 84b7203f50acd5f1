"""Texts that name a period (`2004-Q1`, `1939 Jan`, `2020W05`): their patterns, and the SQL of their first day.

The patterns hold for Python's `re` and for DuckDB's RE2 alike.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

PeriodUnit = Literal["year", "half", "quarter", "month", "week"]

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
    names: Mapping[str, int] | None = None
    """Numbers of parts that have names other than months."""
    is_span: bool = False
    """True for a year that the next one ends (`2010/11`)."""


def _season_names(name: str, unit: PeriodUnit, names: Mapping[str, int]) -> tuple[PeriodName, PeriodName]:
    """Return the ways to name a season before and after its year."""
    season = f"({'|'.join(names)})"
    return (
        PeriodName(f"{name} year", unit, rf"{season}[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1, names=names),
        PeriodName(f"year {name}", unit, rf"({_YEAR}){_GAP}{season}", 1, 2, names=names),
    )


PERIOD_NAMES: tuple[PeriodName, ...] = (
    PeriodName("year-quarter", "quarter", rf"({_YEAR}){_GAP}q([1-4])", 1, 2),
    PeriodName("quarter year", "quarter", rf"q([1-4])[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1),
    PeriodName(
        "1q year", "quarter", rf"([1-4])\.?(?:st|nd|rd|th)?[ ]?(?:q|quarter|quartal){_GAP}({_YEAR})", 2, 1
    ),
    PeriodName(
        "year, 1st quarter", "quarter", rf"({_YEAR}){_GAP}([1-4])(?:st|nd|rd|th)?[ ]?(?:q|quarter)", 1, 2
    ),
    PeriodName("year-half", "half", rf"({_YEAR}){_GAP}[hs]([12])", 1, 2),
    PeriodName("half year", "half", rf"[hs]([12])[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1),
    *_season_names("term", "half", {"spring": 1, "fall": 2, "autumn": 2}),
    *_season_names("summer or winter", "half", {"winter": 1, "summer": 2}),
    *_season_names("season", "quarter", {"winter": 1, "spring": 2, "summer": 3, "fall": 4, "autumn": 4}),
    PeriodName("year-week", "week", rf"({_YEAR}){_GAP}{_WEEK_WORD}{_GAP}([0-5]?[0-9])", 1, 2),
    PeriodName("week year", "week", rf"{_WEEK_WORD}{_GAP}([0-5]?[0-9])[ _./,-]{{1,3}}({_YEAR})", 2, 1),
    PeriodName("yearMmonth", "month", rf"({_YEAR})m([01]?[0-9])", 1, 2),
    PeriodName("year-month", "month", rf"({_YEAR})[-/. ]([01]?[0-9])", 1, 2),
    PeriodName("month/year", "month", rf"([01]?[0-9])[-/.]({_YEAR})", 2, 1),
    PeriodName("yearmonth", "month", r"((?:1[89]|20)[0-9]{2})(0[1-9]|1[0-2])", 1, 2),
    PeriodName("year month name", "month", rf"({_YEAR}){_GAP}({_LETTERS})\.?", 1, 2, True),
    PeriodName("month name year", "month", rf"({_LETTERS})\.?[ _./,'-]{{0,3}}({_YEAR}|[0-9]{{2}})", 2, 1, True),
    PeriodName("season of years", "year", rf"({_YEAR})[-/]((?:[12][0-9])?[0-9]{{2}})", 1, 2, is_span=True),
    PeriodName("year", "year", rf"(?:x|yr|fy|y)?[ ]?({_YEAR})(?: \[yr[0-9]{{4}}\])?", 1),
)
"""The ways to name periods, in the order of trial."""
PERIOD_NAMES_BY_NAME = {way.name: way for way in PERIOD_NAMES}


FREQUENCIES: dict[PeriodUnit, tuple[Literal["year", "quarter", "month", "week"], int]] = {
    "year": ("year", 1),
    "half": ("quarter", 2),
    "quarter": ("quarter", 1),
    "month": ("month", 1),
    "week": ("week", 1),
}
"""Period and step of each unit: a half is two quarters."""


def find_month(text: str) -> int | None:
    """Return the month that a word names in full or in short; None for another word."""
    stem = _fold(text)[:3]
    return MONTH_STEMS.index(stem) % 12 + 1 if stem in MONTH_STEMS and len(text) >= 3 else None


QUARTER_TEXT = r"(?:q|qtr|quarter|quartal)?[ .]?([1-4])(?:st|nd|rd|th)?(?:[ .]?(?:q|qtr|quarter|quartal))?"
YEAR_TEXT = r"(?:fy|year|yr|y)?[ ']?([12][0-9]{3}|[0-9]{2})"
"""Texts of a quarter and of a year alone (`Q3`, `FY24`), in columns beside each other."""


def find_quarter(text: str) -> int | None:
    """Return the quarter that a text names (`Q3`); None for another text."""
    match = re.fullmatch(QUARTER_TEXT, text.strip(), re.IGNORECASE)
    return int(match[1]) if match else None


def find_year(text: str) -> int | None:
    """Return the year that a text names (`FY24`, `2024`); None for another text."""
    match = re.fullmatch(YEAR_TEXT, text.strip(), re.IGNORECASE)
    return full_year(match[1]) if match else None


def _fold(text: str) -> str:
    folded = text.casefold().translate(str.maketrans("äéèûúàç", "aeeuuac"))
    return folded.replace("juin", "jun").replace("juil", "jul")


@lru_cache(maxsize=4096)
def parse_periods(text: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    """Return all ways in which a text may name a period, the likeliest first: `2010-11` may be a season."""
    parsed = ((way, _parse_in_way(text.strip(), way)) for way in PERIOD_NAMES)
    return tuple((way.name, period) for way, period in parsed if period)


def _parse_in_way(text: str, way: PeriodName) -> tuple[int, int] | None:
    match = re.fullmatch(way.pattern, text, re.IGNORECASE)
    if match is None:
        return None
    year, part = full_year(match[way.year_group]), 1
    if way.is_span:
        return (year, 1) if int(match[way.part_group]) % 100 == (year + 1) % 100 else None
    if way.is_month_name:
        part = find_month(match[way.part_group]) or 0
    elif way.names:
        part = way.names[match[way.part_group].casefold()]
    elif way.part_group:
        part = int(match[way.part_group])
    return (year, part) if 1 <= part <= _MAX_PART[way.unit] else None


_MAX_PART = {"year": 1, "half": 2, "quarter": 4, "month": 12, "week": 53}


def full_year(text: str) -> int:
    """Return a year of two or four digits as four."""
    if len(text) > 2:
        return int(text)
    return int(text) + (2000 if int(text) <= LAST_TWO_DIGIT_YEAR else 1900)


MIN_NAMED = 3
"""Texts from which a common way of naming periods is no accident."""


def common_way(texts: Sequence[str]) -> PeriodName | None:
    """Return the way in which texts name different periods; None if one names none, or in another way."""
    parsed = [dict(parse_periods(text)) for text in texts]
    if len(texts) < MIN_NAMED:
        return None
    for way in sorted(PERIOD_NAMES, key=lambda way: not way.is_span):  # months seldom all look like spans
        periods = [ways.get(way.name) for ways in parsed]
        if None not in periods:
            return way if len(set(periods)) == len(texts) else None
    return None


def period_sql(cell: str, way: PeriodName) -> str:
    """SQL of the first day of the period that a text cell names, NULL for another text."""
    pattern = f"'(?i){_quoted(way.pattern)}'"
    text = f"trim(CAST({cell} AS VARCHAR))"
    year = _full_year_sql(f"regexp_extract({text}, {pattern}, {way.year_group})")
    part = f"regexp_extract({text}, {pattern}, {way.part_group})"
    if way.is_month_name:
        number = month_number_sql(part)
    elif way.names:
        numbers = " ".join(f"WHEN '{name}' THEN {value}" for name, value in way.names.items())
        number = f"CASE lower({part}) {numbers} END"
    else:
        number = f"CAST({part} AS INTEGER)"
    day = first_day_sql(way.unit, year, number)
    return f"CASE WHEN regexp_full_match({text}, {pattern}) THEN {day} END"


def _full_year_sql(text: str) -> str:
    """SQL of the year that a text of two or four digits means."""
    year = f"TRY_CAST({text} AS INTEGER)"
    return (
        f"({year} + CASE WHEN length({text}) > 2 THEN 0 "
        f"WHEN {year} <= {LAST_TWO_DIGIT_YEAR} THEN 2000 ELSE 1900 END)"
    )


def year_sql(cell: str) -> str:
    """SQL of the year that a text cell names alone."""
    return _full_year_sql(f"regexp_extract(trim(CAST({cell} AS VARCHAR)), '(?i)^{_quoted(YEAR_TEXT)}$', 1)")


def quarter_sql(cell: str) -> str:
    """SQL of the number of the quarter that a text cell names alone."""
    return f"TRY_CAST(regexp_extract(trim(CAST({cell} AS VARCHAR)), '(?i)^{QUARTER_TEXT}$', 1) AS INTEGER)"


def _quoted(pattern: str) -> str:
    return pattern.replace("'", "''")


def month_number_sql(text: str) -> str:
    """SQL of the number of the month that a text names, NULL for another text."""
    stems = ", ".join(f"'{stem}'" for stem in MONTH_STEMS)
    short = f"replace(replace(lower(strip_accents({text})), 'juin', 'jun'), 'juil', 'jul')"
    return f"(list_position([{stems}], left({short}, 3)) - 1) % 12 + 1"


def first_day_sql(unit: PeriodUnit, year: str, part: str) -> str:
    """SQL of the first day of a period; of a week its Monday, after ISO 8601."""
    if unit == "year":
        return f"make_date({year}, 1, 1)"
    # The fourth of January always lies in the first week of its year.
    if unit == "week":
        return f"(date_trunc('week', make_date({year}, 1, 4)) + to_days(7 * ({part} - 1)))"
    months = {"half": 6, "quarter": 3, "month": 1}[unit]
    return f"make_date({year}, {f'{months} * ({part}) - {months - 1}' if months > 1 else part}, 1)"
