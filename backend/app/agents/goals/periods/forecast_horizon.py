"""Horizons of goals in periods of a series: "the coming fortnight", "until the end of May"."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from app.agents.goals.periods.time_axis import MONTHS_IN, PERIOD_S, Period, count_periods
from app.agents.goals.words.vocabulary import COUNT_WORDS, MONTHS, SECONDS_BY_UNIT, spell_out_times

AnswerForm = Literal["each_period", "sum", "mean", "last", "maximum", "minimum"]
MAX_PERIODS = 5_000
"""Longest horizon in periods: longer ones are misread years or counts."""

_COUNTS = {
    **COUNT_WORDS,
    "couple": 2,
    "eleven": 11,
    "fifteen": 15,
    "eighteen": 18,
    "sixty": 60,
    "ninety": 90,
    "half": 0.5,
}
_OWN_UNITS = "season|period|step|reading|observation|value|point|edition|shift|slot|interval"
"""Words for one period of the series, however long it is."""
_UNIT = (
    r"minute|min|hour|hr|day|night|evening|morning|afternoon|week|fortnight|month|quarter|term|semester"
    rf"|half[ -]?year|year|decade|{_OWN_UNITS}"
)
_COUNT = rf"\d{{1,5}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))}"
_KIND = r"(?:(?:trading|working|business|calendar|full|whole|more|further|additional)[ -])?"
_AMOUNT = rf"(?:a |an |the )?(?P<count>{_COUNT})(?: of)?(?: an?)?[ -]{_KIND}(?P<unit>{_UNIT})s?"
_MONTH_NAMES = "|".join([*MONTHS, *(month[:3] for month in MONTHS if month != "may"), "sept"])
_MONTH = rf"(?P<month>{_MONTH_NAMES})\.?"
_SECONDS: dict[str, float] = {
    **SECONDS_BY_UNIT,
    "min": 60,
    "hr": 3_600,
    "half year": SECONDS_BY_UNIT["year"] / 2,
}
_MONTHS_OF: dict[str, int] = {
    "month": 1,
    "quarter": 3,
    "term": 6,
    "semester": 6,
    "half year": 6,
    "year": 12,
    "decade": 120,
}

_BEFORE = r"\b(?:next|coming|following|upcoming|subsequent)[ -]"
_AMOUNT_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BEFORE}{_AMOUNT}\b",
        rf"\b{_AMOUNT}[ -](?:ahead|out|on|later|hence|from now|in advance|into the future)\b",
        rf"\b{_AMOUNT}[ -](?:forecast|outlook|projection|horizon)\b",
        rf"\b(?:in|for|over|within|by|to|up to|horizon of|horizon:?)\s(?:the )?{_AMOUNT}\b",
        rf"(?:^|[,;:(?]\s?)(?:(?:say|take|about|maybe|roughly) )?{_AMOUNT}\s?(?:\)|[.?!]?$)",
    )
)
_PLAIN_AMOUNT = re.sub(r"\?P<\w+>", "?:", _AMOUNT)
_POINT = re.compile(rf"\bin {_PLAIN_AMOUNT}\b|\b{_PLAIN_AMOUNT} (?:from now|hence|later)\b", re.IGNORECASE)
"""Horizons of which only the last period is asked for: "in five days"."""
_SINGLE = re.compile(
    rf"{_BEFORE}(?P<unit>{_UNIT}|weekend)\b|\b(?P<after>day after tomorrow)\b"
    r"|\b(?P<tomorrow>tomorrow)(?:'?s)?\b"
    rf"|\b(?:the )?(?P<unit2>{_UNIT}) (?:ahead|after|to come)\b",
    re.IGNORECASE,
)
_HALF_YEAR = re.compile(r"half[ -]?year")
_END_OF = re.compile(r"\bend of (?:the )?$", re.IGNORECASE)
_UNTIL = re.compile(
    r"\b(?P<word>until|till|til|through(?:out)?|up to|by|at|to|for|in|over|during|before|forecast|project)?\s?"
    r"(?P<rest>(?:the )?rest of\s|remainder of\s)?(?:the )?(?P<end>(?:very )?end of\s)?(?:the )?"
    rf"(?:(?:{_MONTH}\s)?(?:of )?(?P<year>(?:19|20|21)\d\d)|{_MONTH.replace('month', 'month2')}"
    r"|(?P<which>this |current |running |next |coming |following )?(?P<unit>week|month|quarter|year)"
    r"|(?P<holiday>christmas|new year)"
    r"|q(?P<quarter>[1-4])(?:\s(?P<year2>(?:19|20)\d\d))?)\b",
    re.IGNORECASE,
)

_FEASTS: dict[str, Callable[[int], datetime]] = {
    "christmas": lambda year: datetime(year, 12, 25),
    "new year": lambda year: datetime(year, 12, 31),
}
_HOLIDAY_DAYS = {"christmas": 3, "new year": 2}
"""Days of holidays: from 24 to 26 December, and from 31 December to 1 January."""
_LOWER_BOUND = re.compile(r"\b(?:after|since|later than|starting(?: in| from)?)\s?$", re.IGNORECASE)
"""Words before a date from which rows are selected, and to which nothing is forecast: "hired after 2020"."""
MAX_BOUND_LETTERS = 20
"""Letters before a date that are searched for such words."""
_INSIDE = frozenset(("in", "for", "over", "during", "forecast", "project", ""))
"""Words before a calendar period that the answer is about; after others it is the end of the horizon."""
_DAYS = re.compile(
    r"\b(?P<first>\d{1,2})(?:st|nd|rd|th)?\s?(?:to|until|till|through|and|-|\u2013)\s?(?:the )?"
    rf"(?P<last>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: (?P<year>(?:19|20|21)\d\d))?\b",
    re.IGNORECASE,
)
_FIRST_HALF = re.compile(
    r"\b(?:in |for |over |during )?(?:the )?first half of ((?:19|20|21)\d\d)\b", re.IGNORECASE
)
_ORDINALS = ("first", "second", "third", "fourth")
_ORDINAL_QUARTER = re.compile(rf"\b({'|'.join(_ORDINALS)}) quarter of ((?:19|20|21)\d\d)\b", re.IGNORECASE)


def _write_quarter(match: re.Match[str]) -> str:
    return f"q{_ORDINALS.index(match[1].casefold()) + 1} {match[2]}"


@dataclass(frozen=True)
class Horizon:
    """Length of a forecast in periods, and what is asked of it.

    `first`: periods before the ones that the answer is about ("next month" after the middle of a month).
    `unit`: the unit that the goal names, None for a date; `is_single`: one such unit ("next month").
    `is_running`: a calendar period of which the series has a part already ("in 2024" of rows up to May 2024).
    """

    steps: int
    first: int = 0
    unit: str | None = None
    is_single: bool = False
    is_point: bool = False
    is_running: bool = False


@dataclass(frozen=True)
class SeriesEnd:
    """The last period of a series: its beginning, and the unit and step of its periods."""

    last: datetime
    every: Period
    step: int = 1


def find_horizon(text: str, end: SeriesEnd, knows_end: bool = True) -> Horizon | None:
    """Find how far a goal looks ahead of the end of a series; dates count only if the end is known."""
    text = spell_out_times(text)
    # "The next two weeks until the end of December" are two weeks: a count needs no calendar.
    for find in (_find_counted, _find_single, *([find_dated] if knows_end else [])):
        horizon = find(text, end)
        if horizon and 1 <= horizon.steps <= MAX_PERIODS:
            return horizon
    return None


def horizon_unit(text: str) -> tuple[str, bool] | None:
    """Return the unit of a horizon, and whether it is a single one: ("month", True) of "next month"."""
    end, text = SeriesEnd(datetime(2000, 1, 31), "day"), spell_out_times(text)
    for find in (_find_counted, _find_single):
        if (horizon := find(text, end)) and horizon.unit:
            return horizon.unit, horizon.is_single
    return None


def find_dated(text: str, end: SeriesEnd) -> Horizon | None:
    """Find a horizon that the goal tells by dates after the end of the series, and not by a distance."""
    return _find_days(text, end) or _find_until(text, end)


def names_future(text: str, end: SeriesEnd | None) -> bool:
    """Test for a horizon without a word such as `next`: an amount of time that ends a goal, or a later date.

    `end`: None if the end of the series is unknown, so that no date tells anything.
    """
    if _AMOUNT_PATTERNS[-1].search(spell_out_times(text)):
        return True
    dated = find_dated(text, end) if end else None
    return dated is not None and not dated.is_running


def _find_counted(text: str, end: SeriesEnd) -> Horizon | None:
    for pattern in _AMOUNT_PATTERNS:
        if match := pattern.search(text):
            count = _COUNTS.get(match["count"].casefold()) or float(match["count"])
            unit = _HALF_YEAR.sub("half year", match["unit"].casefold())
            steps = _periods_in(count, unit, end)
            is_single = count == 1 and unit not in ("hour", "hr", "min", "minute")
            return Horizon(max(1, steps), unit=unit, is_single=is_single, is_point=bool(_POINT.search(text)))
    return None


def _periods_in(count: float, unit: str, end: SeriesEnd) -> int:
    if unit == "season" and end.every not in ("quarter", "year"):
        unit = "quarter"
    if unit in _OWN_UNITS.split("|"):
        return round(count)
    months = MONTHS_IN.get(end.every)
    if months and unit in _MONTHS_OF:
        return round(count * _MONTHS_OF[unit] / months / end.step)
    if end.every == "business_day" and unit == "day":
        return round(count)
    if end.every == "business_day" and unit in ("week", "fortnight"):
        return round(count * (5 if unit == "week" else 10))
    periods = count * _SECONDS[unit] / (PERIOD_S[end.every] * end.step)
    # A month has four weeks and a bit: the bit is not a week of its own.
    return int(periods + 0.25) if end.every == "week" and unit == "month" else round(periods)


def _find_single(text: str, end: SeriesEnd) -> Horizon | None:
    match = _SINGLE.search(text)
    if match is None or _END_OF.search(text[: match.start()]):
        return None  # the end of next year is a date
    if match["after"]:
        return Horizon(2 * _periods_in(1, "day", end), first=_periods_in(1, "day", end), unit="day")
    unit = "day" if match["tomorrow"] else (match["unit"] or match["unit2"]).casefold()
    unit = _HALF_YEAR.sub("half year", unit)
    unit = "week" if unit == "weekend" else unit
    # "Next month" is a month of the calendar, "a month ahead" is as long from the last row.
    calendar = _next_calendar_unit(unit, end) if match["unit"] else None
    if calendar:
        return calendar
    return Horizon(max(1, _periods_in(1, unit, end)), unit=unit, is_single=True)


def _next_calendar_unit(unit: str, end: SeriesEnd) -> Horizon | None:
    """Return the horizon to the end of the next calendar month, quarter or year of a finer series."""
    if unit not in ("month", "quarter", "year") or end.every not in ("day", "business_day", "hour", "minute"):
        return None
    after_last = _later(end, 1)
    begin = after_last if _begins(after_last, unit) else _next_begin(after_last, unit)
    finish = _next_begin(begin, unit)
    first = _periods_until(end, begin)
    return Horizon(_periods_until(end, finish), first=first, unit=unit, is_single=True)


def _find_days(text: str, end: SeriesEnd) -> Horizon | None:
    """Find days of one month: "from 1 to 7 April"."""
    match = _DAYS.search(text)
    if match is None or end.every not in ("day", "business_day", "hour"):
        return None
    number = next(i for i, name in enumerate(MONTHS, start=1) if name.startswith(match["month"].casefold()[:3]))
    year = int(match["year"]) if match["year"] else end.last.year
    if not match["year"] and datetime(year, number, 1) < datetime(end.last.year, end.last.month, 1):
        year += 1
    try:
        begin, last = (datetime(year, number, int(match[name])) for name in ("first", "last"))
    except ValueError:
        return None
    is_running = begin <= end.last
    steps = _periods_until(end, last + timedelta(days=1))
    return Horizon(steps, first=0 if is_running else _periods_until(end, begin), is_running=is_running)


def _find_until(text: str, end: SeriesEnd) -> Horizon | None:
    horizon = None
    text = _FIRST_HALF.sub(r"to june \1", _ORDINAL_QUARTER.sub(_write_quarter, text))
    for match in _UNTIL.finditer(text):
        if _LOWER_BOUND.search(text[max(0, match.start() - MAX_BOUND_LETTERS) : match.start()]):
            continue
        finish = _finish(match, end)
        if finish is None:
            continue
        steps = _periods_until(end, finish)
        if steps >= 1:
            word = (match["word"] or "").casefold()
            is_inside = _is_inside(match) and not match["end"] and not match["rest"]
            start = _start(match, finish)
            first = _periods_until(end, start) if is_inside else 0
            is_point = bool(word in ("at", "by") and match["end"]) or (is_inside and first == steps - 1)
            is_running = is_inside and start <= end.last
            # One month, quarter or year that lies ahead as a whole: "in July".
            is_single = is_inside and not is_running
            horizon = Horizon(steps, first=first, is_single=is_single, is_point=is_point, is_running=is_running)
    return horizon


def _is_inside(match: re.Match[str]) -> bool:
    """Test if the answer is about the date itself: "in July", "at Christmas"."""
    word = (match["word"] or "").casefold()
    return word in _INSIDE or (word == "at" and match["holiday"] is not None)


def _start(match: re.Match[str], finish: datetime) -> datetime:
    """Return the beginning of the calendar unit that ends at a moment."""
    if holiday := match["holiday"]:
        return finish - timedelta(days=_HOLIDAY_DAYS[holiday.casefold()])
    unit = "month" if match["month"] or match["month2"] else "quarter" if match["quarter"] else "year"
    return _STARTS[unit](finish - timedelta(days=1))


def _finish(match: re.Match[str], end: SeriesEnd) -> datetime | None:
    """Return the moment that a date ends at: of 2024 the beginning of 2025."""
    year = match["year"] or match["year2"]
    if match["quarter"]:
        at = int(year) if year else end.last.year
        moment = datetime(at, 3 * int(match["quarter"]) - 2, 1)
        while not year and moment <= end.last:
            moment = datetime(moment.year + 1, moment.month, 1)
        return _next_begin(moment, "quarter")
    if month := match["month"] or match["month2"]:
        # A month alone is no horizon: "may" is a verb, too.
        if match["month2"] and not match["word"] and not match["end"]:
            return None
        number = next(i for i, name in enumerate(MONTHS, start=1) if name.startswith(month.casefold()[:3]))
        moment = datetime(int(year) if year else end.last.year, number, 1)
        while not year and moment <= end.last:
            moment = datetime(moment.year + 1, number, 1)
        return _next_begin(moment, "month")
    if match["holiday"]:
        return _holiday_end(match["holiday"].casefold(), end, _is_inside(match))
    if year:
        return datetime(int(year) + 1, 1, 1)
    if unit := match["unit"]:
        if not (match["end"] or match["rest"]):
            return None
        is_next = (match["which"] or "").casefold().strip() in ("next", "coming", "following")
        inside = _next_begin(end.last, unit.casefold()) if is_next else _later(end, 1)
        return _next_begin(inside, unit.casefold())
    return None


def _holiday_end(holiday: str, end: SeriesEnd, is_inside: bool) -> datetime:
    """Return the end of the next holidays, or of the eve of the feast for a forecast that goes up to it."""
    year = end.last.year
    while True:
        feast = _FEASTS[holiday](year)
        # Of holidays that have begun nothing would be left to forecast as a whole.
        if feast - timedelta(days=1) > end.last:
            return feast + timedelta(days=2) if is_inside else feast
        year += 1


def _later(end: SeriesEnd, periods: int) -> datetime:
    """Return the beginning of a later period."""
    months = MONTHS_IN.get(end.every)
    if months:
        total = end.last.month - 1 + months * end.step * periods
        return datetime(end.last.year + total // 12, total % 12 + 1, 1)
    if end.every == "business_day":
        later = end.last
        for _ in range(periods):
            later += timedelta(days=3 if later.weekday() == 4 else 1)
        return later
    return end.last + timedelta(seconds=PERIOD_S[end.every] * end.step * periods)


def _periods_until(end: SeriesEnd, finish: datetime) -> int:
    """Count the periods after the last one that begin before a moment."""
    if finish <= end.last:
        return 0
    unit_s = timedelta(seconds=1)
    return count_periods(end.last, finish - unit_s, end.every, end.step) - 1


_STARTS: dict[str, Callable[[datetime], datetime]] = {
    "week": lambda at: _midnight(at) - timedelta(days=at.weekday()),
    "month": lambda at: datetime(at.year, at.month, 1),
    "quarter": lambda at: datetime(at.year, (at.month - 1) // 3 * 3 + 1, 1),
    "year": lambda at: datetime(at.year, 1, 1),
}


def _midnight(at: datetime) -> datetime:
    return datetime(at.year, at.month, at.day)


def _begins(at: datetime, unit: str) -> bool:
    return _STARTS[unit](at) == at


def _next_begin(at: datetime, unit: str) -> datetime:
    """Return the beginning of the calendar unit after the one of a moment."""
    length_days = {"week": 7, "month": 32, "quarter": 93, "year": 367}[unit]
    return _STARTS[unit](_STARTS[unit](at) + timedelta(days=length_days))


_FIRST_MONDAY = datetime(2000, 1, 3)
"""Moment from which periods of several minutes, hours, days or weeks are counted, as DuckDB counts them."""


def period_start(at: datetime, every: Period, step: int = 1) -> datetime:
    """Return the beginning of the calendar period of a moment."""
    if step > 1 and every in MONTHS_IN:
        months = (at.year - _FIRST_MONDAY.year) * 12 + at.month - 1
        months -= months % (MONTHS_IN[every] * step)
        return datetime(_FIRST_MONDAY.year + months // 12, months % 12 + 1, 1)
    if step > 1 and every != "business_day":
        length = timedelta(seconds=PERIOD_S[every] * step)
        return at - (at - _FIRST_MONDAY) % length
    if every in ("minute", "hour"):
        return at.replace(minute=at.minute if every == "minute" else 0, second=0, microsecond=0)
    return _midnight(at) if every in ("day", "business_day") else _STARTS[every](at)


def next_start(begin: datetime, every: Period, step: int = 1) -> datetime:
    """Return the beginning of the next period."""
    return _later(SeriesEnd(begin, "day" if every == "business_day" else every, step), 1)
