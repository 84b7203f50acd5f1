"""Inference of date columns: their spellings, the order of day and month, and counts since 1970."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

import numpy as np
import pandas as pd
import pyarrow as pa

from app.modeling.type_inference.date_spellings import CENTURY_PIVOT, SPELLINGS
from app.modeling.type_inference.dates import MICROSECONDS_PER_TICK, PATTERNS, parse_dates

MIN_DATE_SHARE = 0.95
"""Share of the values that must be dates."""
FEW_WORDS_SHARE = 0.8
MAX_WORDS = 3
"""With at most MAX_WORDS distinct words, such as `ongoing`, this smaller share of dates is enough."""
MIN_COMPACT_VALUES = 10
"""Distinct values of dates such as 20240531: fewer may be numbers."""
MAX_NEAR_YEAR, MAX_BIRTH_YEAR = 60, 30
"""The last two-digit years of this century where no year crosses 00: terms end in decades, births do not."""
_BIRTH_NAME = re.compile(r"birth|born|\bdob\b|geburt|geboren|naiss|nacim|nascita|nascimento", re.IGNORECASE)
MAX_PROBED_VALUES = 60
"""Distinct values that are matched first: most columns are ruled out by them, without parsing all."""
MAX_NAMED_VALUES = 3
"""Values that are no dates which a sentence names."""
_DAY_MONTH = re.compile(r"(?:[^\W\d_]{2,10}\.?,? )?(\d{1,2})([-/.])(\d{1,2})\2")
TIME_NAME = re.compile(
    r"date|time|(^|[_\W])(ts|at|on|epoch|day|datum|dob|created|updated|modified)$|[a-z](At|Ts|On)$|zeit|fecha",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DateGuess:
    """Inferred format of a date column. `spellings`: the most frequent first.

    `is_certain`: the order of day and month is known; `reason`: the evidence for it.
    """

    spellings: tuple[str, ...]
    day_first: bool
    is_certain: bool
    share: float
    reason: str
    pivot: int = CENTURY_PIVOT
    words: tuple[str, ...] = ()
    """The values that are no dates, if they are few words."""
    lost: tuple[str, ...] = ()
    """The first values that are no dates, as impossible days."""


def guess_dates(values: Mapping[str, int], in_order: pd.Series, name: str = "") -> DateGuess | None:
    """Infer the date format from the counts of distinct values (trimmed text -> count).

    `in_order`: the texts in the order of the rows. None for a column that holds no dates.
    """
    # Most columns hold no dates, and a few values show that before any is parsed.
    first = list(islice(values, MAX_PROBED_VALUES))
    candidates = {spelling for text in first for spelling, pattern in PATTERNS.items() if pattern.match(text)}
    matches = sum(any(PATTERNS[spelling].match(text) for spelling in candidates) for text in first)
    if not candidates or matches < min(MIN_DATE_SHARE * len(first), len(first) - MAX_WORDS):
        return None
    texts, weights = pa.array(values, pa.string()), np.fromiter(values.values(), dtype="int64")
    is_unparsed = np.ones(len(values), dtype=bool)
    counts: dict[str, int] = {}
    for spelling in SPELLINGS:
        is_date = ~np.isnat(parse_dates(texts, [spelling], False)) & is_unparsed
        if is_date.any():
            counts[spelling] = int(weights[is_date].sum())
            is_unparsed &= ~is_date
    share = sum(counts.values()) / int(weights.sum())
    words = tuple(itertools.compress(values, is_unparsed))
    are_words = len(words) <= MAX_WORDS and not any(re.search(r"\d", word) for word in words)
    if share < MIN_DATE_SHARE and not (share >= FEW_WORDS_SHARE and are_words):
        return None
    if set(counts) == {"yearmonthday"} and len(values) < MIN_COMPACT_VALUES:
        return None
    spellings = tuple(sorted(counts, key=lambda spelling: -counts[spelling]))
    pivot = _infer_pivot(name, values, spellings)
    if "day and month" not in counts:
        guess = DateGuess(spellings, False, True, share, "")
    else:
        guess = _resolve_day_first(spellings, share, values, in_order)
    return replace(guess, pivot=pivot, words=words if are_words else (), lost=words[:MAX_NAMED_VALUES])


def _infer_pivot(name: str, values: Iterable[str], spellings: Sequence[str]) -> int:
    """Choose the century of two-digit years so that the column's dates lie close together.

    Years on both sides of 00 (`48` to `11`) run from the last century into this one; others are of this
    century, unless they reach beyond MAX_NEAR_YEAR, or are births.
    """
    matches = (PATTERNS[spelling].match(text) for text in values for spelling in spellings)
    years = sorted({int(match["year"]) for match in matches if match and len(match["year"]) == 2})
    if not years:
        return CENTURY_PIVOT
    # Births lie in the past: of 05 to 98 none is in the years to come.
    if _BIRTH_NAME.search(name):
        return next((year for year in years if year > MAX_BIRTH_YEAR), max(years[-1] + 1, CENTURY_PIVOT))
    gaps = [(later - earlier, later) for earlier, later in pairwise(years)]
    across = years[0] + 100 - years[-1]
    widest, first = max(gaps, default=(0, 0))
    if widest > across:
        return first
    is_past = years[-1] > MAX_NEAR_YEAR
    return min(years[0], CENTURY_PIVOT) if is_past else max(years[-1] + 1, CENTURY_PIVOT)


def _resolve_day_first(
    spellings: tuple[str, ...], share: float, values: Mapping[str, int], in_order: pd.Series
) -> DateGuess:
    """Decide the order of day and month: by values above 12, then by the order of the rows, then by convention
    (and not certain then)."""
    pairs = [(match, count) for text, count in values.items() if (match := _DAY_MONTH.match(text))]
    day = sum(count for match, count in pairs if int(match[1]) > 12)
    month = sum(count for match, count in pairs if int(match[3]) > 12)
    if day or month:
        reason = f"{max(day, month)} values can only be {'day' if day >= month else 'month'} first"
        return DateGuess(spellings, day >= month, min(day, month) < 0.05 * max(day, month), share, reason)
    sorted_share = {order: _share_in_order(in_order, spellings, order) for order in (True, False)}
    if max(sorted_share.values()) >= 0.98 > min(sorted_share.values()):
        return DateGuess(spellings, sorted_share[True] >= 0.98, True, share, "only so are the rows in order")
    # Points are the mark of countries that write the day first; slashes and dashes are used by all.
    has_dots = sum(match[2] == "." for match, _ in pairs) > len(pairs) / 2
    return DateGuess(spellings, has_dots, has_dots, share, "by the separator")


def _share_in_order(in_order: pd.Series, spellings: tuple[str, ...], day_first: bool) -> float:
    """Share of neighbouring dates in the more frequent direction, repeats left out; 0 for fewer than 5
    steps."""
    dates = parse_dates(pa.array(in_order.to_numpy(dtype=object), pa.string()), spellings, day_first)
    steps = np.diff(dates[~np.isnat(dates)].astype("int64"))
    # Repeats are in order both ways, and would hide the difference between the two.
    steps = steps[steps != 0]
    return max(float((steps > 0).mean()), float((steps < 0).mean())) if len(steps) >= 5 else 0.0


MIN_EXCEL_DATE, MAX_EXCEL_DATE = 14_611, 73_415
"""Days of spreadsheets from 1940 to 2100, under a name of a date."""
MIN_MONTHS = 6
"""Months such as 202405 without a gap that are dates whatever their name: fewer may be numbers by chance."""
_DATE_NAME = re.compile(r"date|datum|fecha|\bdob\b", re.IGNORECASE)
_MONTH_NAME = re.compile(r"month|monat|mois|\bmes\b|period|yyyymm|yearmon|(^|[_\W])ym$", re.IGNORECASE)
_EPOCH_RANGES = {"s": (8.5e8, 2.2e9), "ms": (8.5e11, 2.2e12), "us": (8.5e14, 2.2e15)}
"""Counts from 1996 to 2039: whole numbers outside are rarely moments."""


def guess_epoch(column: pd.Series) -> str | None:
    """Infer the unit of a column of moments as numbers: `s`, `ms`, `us` since 1970, `yyyymmdd`, `yyyymm` or
    `excel`.

    Counts must have a name of a time, or rise with the rows; numbers that are all calendar dates need neither.
    None for other columns.
    """
    values = column.dropna().to_numpy(dtype="float64")
    if len(values) < 5:
        return None
    low, high = values.min(), values.max()
    has_name = TIME_NAME.search(str(column.name)) is not None
    if low >= MIN_EXCEL_DATE and high <= MAX_EXCEL_DATE and _DATE_NAME.search(str(column.name)):
        return "excel"
    if (values != np.round(values)).any():
        return None
    if low >= 150001 and high <= 250012 and (values % 100 >= 1).all() and (values % 100 <= 12).all():
        months = np.unique(values // 100 * 12 + values % 100)
        is_gapless = len(months) >= MIN_MONTHS and months[-1] - months[0] == len(months) - 1
        return "yyyymm" if is_gapless or has_name or _MONTH_NAME.search(str(column.name)) else None
    if low >= 15000101 and high <= 25001231:
        return _match_calendar_dates(values)
    unit = next(
        (
            unit
            for unit in MICROSECONDS_PER_TICK
            if _EPOCH_RANGES[unit][0] <= low and high <= _EPOCH_RANGES[unit][1]
        ),
        None,
    )
    if unit is None or len(np.unique(values)) < 5:
        return None
    rises = bool((np.diff(values) >= 0).mean() >= 0.98)
    return unit if rises or has_name else None


def _match_calendar_dates(values: np.ndarray) -> str | None:
    # Numbers in general are rarely all calendar dates: one in 27 has a valid month and day.
    days = pa.array([str(int(value)) for value in np.unique(values)[:2000]], pa.string())
    is_date = ~np.isnat(parse_dates(days, ["yearmonthday"], False))
    return "yyyymmdd" if len(days) >= 10 and is_date.all() else None
