"""Parsing of dates in common spellings, field by field. Times with a zone become UTC."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.modeling.type_inference.date_spellings import (
    MAX_YEAR,
    MIN_YEAR,
    MONTH_NUMBERS,
    SPELLINGS,
)

_CENTURY_PIVOT = 69
"""Two-digit years below belong to this century, as in POSIX `strptime`."""

NAT = np.datetime64("NaT", "us")


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


def parse_dates(texts: pa.Array, spellings: Sequence[str], day_first: bool) -> np.ndarray:
    """Parse texts (rows,) to `datetime64[us]` in UTC; NaT for a text in none of the spellings.

    `day_first` decides `day and month`, unless a value above 12 shows the other order.
    """
    dates = np.full(len(texts), NAT)
    unparsed = np.arange(len(texts))
    for spelling in spellings:
        if not len(unparsed):
            break
        dates[unparsed] = _parse_spelling(texts.take(pa.array(unparsed)), spelling, day_first)
        unparsed = unparsed[np.isnat(dates[unparsed])]
    return dates


def _parse_spelling(texts: pa.Array, spelling: str, day_first: bool) -> np.ndarray:
    matches = pc.extract_regex(texts, pattern=SPELLINGS[spelling])
    dates = np.full(len(texts), NAT)
    matched = np.flatnonzero(matches.is_valid().to_numpy(zero_copy_only=False))
    if not len(matched):
        return dates
    fields = _DateFields(matches.take(pa.array(matched)))
    if spelling == "day and month":
        first_number, second_number = fields.number("first_number", 0), fields.number("second_number", 0)
        day, month = (first_number, second_number) if day_first else (second_number, first_number)
        swap = (month > 12) & (day <= 12)
        day, month = np.where(swap, month, day), np.where(swap, day, month)
    else:
        day, month = fields.number("day", 1), _months(fields)
    dates[matched] = _to_dates(_years(fields), month, day) + _times(fields)
    return dates


def _months(fields: _DateFields) -> np.ndarray:
    month_names = fields.text("month_name")
    if month_names is None:
        return fields.number("month", 1)
    encoded = pc.dictionary_encode(month_names)
    numbers = np.array([MONTH_NUMBERS.get(name.casefold(), 0) for name in encoded.dictionary.to_pylist()] + [0])
    months: np.ndarray = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
    return months


def _years(fields: _DateFields) -> np.ndarray:
    years = fields.number("year", 0)
    short = pc.less_equal(pc.utf8_length(fields.text("year")), 2).to_numpy(zero_copy_only=False)
    return np.where(short, np.where(years < _CENTURY_PIVOT, 2000 + years, 1900 + years), years)


def _to_dates(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    is_valid = (year >= MIN_YEAR) & (year <= MAX_YEAR) & (month >= 1) & (month <= 12) & (day >= 1)
    months = (np.where(is_valid, year, 1970) - 1970) * 12 + np.where(is_valid, month, 1) - 1
    month_starts = months.astype("datetime64[M]").astype("datetime64[D]")
    dates = month_starts + (np.where(is_valid, day, 1) - 1)
    is_valid &= dates.astype("datetime64[M]").astype("int64") == months
    checked: np.ndarray = np.where(is_valid, dates.astype("datetime64[us]"), NAT)
    return checked


def _times(fields: _DateFields) -> np.ndarray:
    """Time since midnight in UTC (rows,); NaT for an impossible time."""
    hour, minute, second = (fields.number(name, 0) for name in ("hour", "minute", "second"))
    half_day = fields.text("half")
    is_valid = (hour < 24) & (minute < 60) & (second < 60)
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
    if not zone or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-1 if zone[0] == "-" else 1) * minutes * 60_000_000


MICROSECONDS_PER_TICK: dict[str, int] = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Unit of a count since 1970 -> microseconds of one tick."""


def parse_epoch(values: pd.Series, unit: str) -> np.ndarray:
    """Parse counts since 1970, or whole numbers such as 20240531 (`yyyymmdd`), to `datetime64[us]` (rows,)."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    is_valid = np.isfinite(numbers)
    filled = np.where(is_valid, numbers, 0)
    if unit == "yyyymmdd":
        days = filled.astype("int64")
        dates = _to_dates(days // 10_000, days // 100 % 100, days % 100)
    else:
        micros = np.round(filled * MICROSECONDS_PER_TICK[unit])
        is_valid &= np.abs(micros) < 2**62
        dates = np.where(is_valid, micros, 0).astype("int64").astype("datetime64[us]")
    checked: np.ndarray = np.where(is_valid, dates, NAT)
    return checked
