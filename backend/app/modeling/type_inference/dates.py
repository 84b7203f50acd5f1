"""Parsing of dates in common spellings, field by field. Times with a zone become UTC."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.modeling.type_inference.date_spellings import (
    CENTURY_PIVOT,
    MAX_YEAR,
    MIN_YEAR,
    MONTH_NUMBERS,
    SPELLINGS,
    ZONE_OFFSETS_H,
)

NAT = np.datetime64("NaT", "us")
PATTERNS = {
    # Arrow's `\d` is ASCII, and its `\pL` is unknown to Python.
    spelling: re.compile(pattern.replace(r"\d", "[0-9]").replace(r"\pL", r"[^\W\d_]"))
    for spelling, pattern in SPELLINGS.items()
}
_MAX_SEARCHED_TEXTS = 1_000
"""Texts that are first searched by Python, at 0.3 us each: Arrow takes 2 to 4 ms to compile a pattern with
letters, in each call, and most spellings do not occur."""


@dataclass(frozen=True)
class _DateFields:
    """Named groups of matched dates."""

    texts: pa.StructArray

    def text(self, name: str) -> pa.Array | None:
        return pc.struct_field(self.texts, name) if self.texts.type.get_field_index(name) >= 0 else None

    def number(self, name: str, default: int) -> np.ndarray:
        text = self.text(name)
        if text is None:
            return np.full(len(self.texts), default)
        filled = pc.if_else(pc.equal(text, ""), str(default), text)
        numbers: np.ndarray = pc.fill_null(pc.cast(filled, pa.int64()), default).to_numpy(zero_copy_only=False)
        return numbers


def parse_dates(
    texts: pa.Array, spellings: Sequence[str], day_first: bool, pivot: int = CENTURY_PIVOT
) -> np.ndarray:
    """Parse texts (rows,) to `datetime64[us]` in UTC; NaT for a text in none of the spellings.

    `day_first` decides `day and month`, unless a value above 12 shows the other order. `pivot`: two-digit years
    below it belong to this century.
    """
    dates = np.full(len(texts), NAT)
    unparsed = np.arange(len(texts))
    for spelling in spellings:
        if not len(unparsed):
            break
        dates[unparsed] = _parse_spelling(texts.take(pa.array(unparsed)), spelling, day_first, pivot)
        unparsed = unparsed[np.isnat(dates[unparsed])]
    return dates


def _parse_spelling(texts: pa.Array, spelling: str, day_first: bool, pivot: int) -> np.ndarray:
    dates = np.full(len(texts), NAT)
    if len(texts) <= _MAX_SEARCHED_TEXTS and not _occurs(spelling, texts):
        return dates
    matches = pc.extract_regex(texts, pattern=SPELLINGS[spelling])
    matched = np.flatnonzero(matches.is_valid().to_numpy(zero_copy_only=False))
    if not len(matched):
        return dates
    fields = _DateFields(matches.take(pa.array(matched)))
    if spelling == "day and month":
        first_number, second_number = fields.number("first_number", 0), fields.number("second_number", 0)
        day, month = (first_number, second_number) if day_first else (second_number, first_number)
        # Files of several sources mix both orders; a number above 12 can only be the day.
        swap = (month > 12) & (day <= 12)
        day, month = np.where(swap, month, day), np.where(swap, day, month)
    else:
        day, month = fields.number("day", 1), _months(fields)
    years = _years(fields, pivot)
    days = _week_starts(fields, years) if "week" in spelling else _to_dates(years, month, day)
    dates[matched] = days + _times(fields)
    return dates


def _occurs(spelling: str, texts: pa.Array) -> bool:
    match = PATTERNS[spelling].match
    return any(text is not None and match(text) for text in texts.to_pylist())


def _week_starts(fields: _DateFields, years: np.ndarray) -> np.ndarray:
    """Mondays of ISO weeks, or the days of them that are named (rows,); NaT for weeks that a year lacks."""
    fourth = _to_dates(years, np.full(len(years), 1), np.full(len(years), 4)).astype("datetime64[D]")
    # 1970-01-01 was a Thursday; the fourth of January lies in the first week.
    mondays = fourth - (fourth.astype("int64") + 3) % 7
    week = fields.number("week", 1)
    starts = mondays + (week - 1) * 7
    is_valid = (
        (week >= 1) & (week <= 53) & ((starts + 3).astype("datetime64[Y]").astype("int64") + 1970 == years)
    )
    days = (starts + fields.number("weekday", 1) - 1).astype("datetime64[us]")
    checked: np.ndarray = np.where(is_valid, days, NAT)
    return checked


def _months(fields: _DateFields) -> np.ndarray:
    month_names = fields.text("month_name")
    if month_names is None:
        quarter, half = fields.number("quarter", 1), fields.number("half_year", 1)
        first_months: np.ndarray = fields.number("month", 1) + 3 * (quarter - 1) + 6 * (half - 1)
        return first_months
    encoded = pc.dictionary_encode(month_names)
    # Each distinct name is looked up once; an unknown one becomes month 0, which no date has.
    numbers = np.array([MONTH_NUMBERS.get(name.casefold(), 0) for name in encoded.dictionary.to_pylist()] + [0])
    months: np.ndarray = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
    return months


def _years(fields: _DateFields, pivot: int) -> np.ndarray:
    years = fields.number("year", 0)
    short = pc.less_equal(pc.utf8_length(fields.text("year")), 2).to_numpy(zero_copy_only=False)
    return np.where(short, np.where(years < pivot, 2000 + years, 1900 + years), years)


def _to_dates(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    is_valid = (year >= MIN_YEAR) & (year <= MAX_YEAR) & (month >= 1) & (month <= 12) & (day >= 1)
    months = (np.where(is_valid, year, 1970) - 1970) * 12 + np.where(is_valid, month, 1) - 1
    month_starts = months.astype("datetime64[M]").astype("datetime64[D]")
    dates = month_starts + (np.where(is_valid, day, 1) - 1)
    # numpy carries 31 February over into March; such a date is none.
    is_valid &= dates.astype("datetime64[M]").astype("int64") == months
    checked: np.ndarray = np.where(is_valid, dates.astype("datetime64[us]"), NAT)
    return checked


def _times(fields: _DateFields) -> np.ndarray:
    """Time since midnight in UTC (rows,); NaT for an impossible time."""
    hour, minute, second = (fields.number(name, 0) for name in ("hour", "minute", "second"))
    half_day = fields.text("half")
    # 24:00 is the end of the day.
    is_valid = ((hour < 24) & (minute < 60) & (second < 60)) | ((hour == 24) & (minute == 0) & (second == 0))
    if half_day is not None:
        letters = pc.fill_null(pc.utf8_lower(pc.utf8_slice_codeunits(half_day, 0, 1)), "").to_numpy(
            zero_copy_only=False
        )
        afternoon, morning = letters == "p", letters == "a"
        is_valid &= ~((afternoon | morning) & (hour > 12))
        hour = np.where(afternoon & (hour < 12), hour + 12, np.where(morning & (hour == 12), 0, hour))
    micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + _fractions(fields) - _offsets(fields)
    times: np.ndarray = np.where(is_valid, micros.astype("timedelta64[us]"), np.timedelta64("NaT", "us"))
    return times


def _fractions(fields: _DateFields) -> np.ndarray:
    fraction = fields.text("fraction")
    if fraction is None:
        return np.zeros(len(fields.texts), dtype="int64")
    padded = pc.utf8_slice_codeunits(
        pc.binary_join_element_wise(pc.fill_null(fraction, ""), "000000", ""), 0, 6
    )
    micros: np.ndarray = pc.cast(padded, pa.int64()).to_numpy(zero_copy_only=False)
    return micros


def _offsets(fields: _DateFields) -> np.ndarray:
    """Offsets from UTC in microseconds (rows,), positive in the east."""
    zone = fields.text("zone")
    if zone is None:
        return np.zeros(len(fields.texts), dtype="int64")
    encoded = pc.dictionary_encode(pc.fill_null(zone, ""))
    offset_of_zone = np.array([_parse_offset(text) for text in encoded.dictionary.to_pylist()], dtype="int64")
    offsets: np.ndarray = offset_of_zone[encoded.indices.to_numpy(zero_copy_only=False)]
    return offsets


def _parse_offset(zone: str) -> int:
    if zone in ZONE_OFFSETS_H:
        return int(ZONE_OFFSETS_H[zone] * 3600) * 1_000_000
    offset = zone.removeprefix("UTC").removeprefix("GMT")
    if not offset or offset[0] not in "+-":
        return 0
    hours, _, minutes = offset[1:].partition(":")
    # `+0530` has no colon between its hours and minutes.
    if len(hours) > 2:
        hours, minutes = hours[:2], hours[2:]
    micros = (int(hours) * 60 + int(minutes or 0)) * 60_000_000
    return -micros if offset[0] == "-" else micros


EXCEL_EPOCH = np.datetime64("1899-12-30", "us")
"""Day 0 of spreadsheets: with it, their days from March 1900 on are right, 29 February 1900 included."""
MAX_EXCEL_DAY = 219_512
"""31 December 2500, the last year of `date_spellings`."""
MICROSECONDS_PER_TICK: dict[str, int] = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Unit of a count since 1970 -> microseconds of one tick."""


def parse_epoch(values: pd.Series, unit: str) -> np.ndarray:
    """Parse counts since 1970, or whole numbers such as 20240531 (`yyyymmdd`), to `datetime64[us]` (rows,).

    `yyyymm`: months such as 202405. `excel`: days since 30 December 1899, as in spreadsheets.
    """
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    is_valid = np.isfinite(numbers)
    filled = np.where(is_valid, numbers, 0)
    if unit == "yyyymmdd":
        days = filled.astype("int64")
        dates = _to_dates(days // 10_000, days // 100 % 100, days % 100)
    elif unit == "yyyymm":
        months = filled.astype("int64")
        dates = _to_dates(months // 100, months % 100, np.full(len(months), 1))
    elif unit == "excel":
        is_valid &= np.abs(filled) < MAX_EXCEL_DAY
        seconds = np.round(np.where(is_valid, filled, 0) * 86_400).astype("int64")
        dates = EXCEL_EPOCH + (seconds * 1_000_000).astype("timedelta64[us]")
    else:
        micros = np.round(filled * MICROSECONDS_PER_TICK[unit])
        # Beyond it the conversion to 64-bit integers wraps around without an error.
        is_valid &= np.abs(micros) < 2**62
        dates = np.where(is_valid, micros, 0).astype("int64").astype("datetime64[us]")
    checked: np.ndarray = np.where(is_valid, dates, NAT)
    return checked
