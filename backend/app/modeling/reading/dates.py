"""Dates as people write them, read part by part; times with a zone are told in UTC."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# Gaps are bounded: neighbouring ones share their spaces in every way, and Arrow's engine, which reads these
# patterns too, has no possessive repeats.
_TIME = (
    r"(?:[T ,]\s{0,9}(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s{0,9}(?P<half>(?:[AaPp]\.?[Mm]\.?)?))?\s{0,9}(?P<zone>(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)$"
)
_WEEKDAY = r"^(?:(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un)[a-z]{0,9}\.?,?\s{1,9})?"
_MONTH = r"(?P<named>\pL{3,10})"

SPELLINGS: dict[str, str] = {
    "year-month-day": r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME,
    "day and month": r"^(?P<first>\d{1,2})[-/.](?P<other>\d{1,2})[-/.](?P<year>\d{4}|\d{2})" + _TIME,
    "day month year": _WEEKDAY
    + rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s/.]{{0,9}}{_MONTH}\.?[-\s/.,]{{1,9}}(?P<year>\d{{4}}|\d{{2}})"
    + _TIME,
    "month day, year": _WEEKDAY
    + rf"{_MONTH}\.?\s{{1,9}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{{1,9}}(?P<year>\d{{4}})"
    + _TIME,
    "yearmonthday": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})Z?)?$",
    "month year": rf"^{_MONTH}\.?[-\s/,]{{1,9}}(?P<year>\d{{4}})$",
    "year-month": r"^(?P<year>\d{4})[-/](?P<month>\d{1,2})$",
}
"""Tried in this order. In `day and month` the order of the two is the column's."""

_NAMES = (
    "jan january januar janvier enero gennaio janeiro",
    "feb february februar f\u00e9vrier fevrier febrero febbraio fevereiro feb.",
    "mar march m\u00e4rz maerz mrz mars marzo mar\u00e7o",
    "apr april avril abril aprile",
    "may mai mayo maggio maio",
    "jun june juni juin junio giugno junho",
    "jul july juli juillet julio luglio julho",
    "aug august ao\u00fbt aout agosto",
    "sep sept september septembre septiembre settembre setembro",
    "oct okt october oktober octobre octubre ottobre outubro",
    "nov november novembre noviembre novembro",
    "dec dez december dezember d\u00e9cembre decembre diciembre dicembre dezembro",
)
MONTHS = {name: place for place, names in enumerate(_NAMES, start=1) for name in names.split()}
EARLIEST, LATEST = 1500, 2500
"""Years outside are no dates but words for never."""

_PIVOT = 69
"""Two digits up to 68 are of this century."""

NAT = np.datetime64("NaT", "us")


@dataclass(frozen=True)
class _Parts:
    texts: pa.StructArray

    def text(self, name: str) -> pa.Array | None:
        return pc.struct_field(self.texts, name) if self.texts.type.get_field_index(name) >= 0 else None

    def number(self, name: str, otherwise: int) -> np.ndarray:
        text = self.text(name)
        if text is None:
            return np.full(len(self.texts), otherwise)
        known = pc.if_else(pc.equal(text, ""), str(otherwise), text)
        numbers: np.ndarray = pc.fill_null(pc.cast(known, pa.int64()), otherwise).to_numpy(zero_copy_only=False)
        return numbers


def read_dates(texts: pa.Array, spellings: Sequence[str], day_first: bool) -> np.ndarray:
    """`datetime64[us]` in UTC a text, NaT where it is spelled in none of these ways.

    A day and month that cannot stand in the column's order are taken in the other.
    """
    made = np.full(len(texts), NAT)
    left = np.arange(len(texts))
    for spelling in spellings:
        if not len(left):
            break
        made[left] = _read(texts.take(pa.array(left)), spelling, day_first)
        left = left[np.isnat(made[left])]
    return made


def _read(texts: pa.Array, spelling: str, day_first: bool) -> np.ndarray:
    found = pc.extract_regex(texts, pattern=SPELLINGS[spelling])
    made = np.full(len(texts), NAT)
    fits = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
    if not len(fits):
        return made
    parts = _Parts(found.take(pa.array(fits)))
    if spelling == "day and month":
        first, other = parts.number("first", 0), parts.number("other", 0)
        day, month = (first, other) if day_first else (other, first)
        swap = (month > 12) & (day <= 12)
        day, month = np.where(swap, month, day), np.where(swap, day, month)
    else:
        day, month = parts.number("day", 1), _month(parts)
    made[fits] = _day(_year(parts), month, day) + _time(parts)
    return made


def _month(parts: _Parts) -> np.ndarray:
    named = parts.text("named")
    if named is None:
        return parts.number("month", 1)
    encoded = pc.dictionary_encode(named)
    places = np.array([MONTHS.get(name.casefold(), 0) for name in encoded.dictionary.to_pylist()] + [0])
    months: np.ndarray = places[encoded.indices.to_numpy(zero_copy_only=False)]
    return months


def _year(parts: _Parts) -> np.ndarray:
    years = parts.number("year", 0)
    short = pc.less_equal(pc.utf8_length(parts.text("year")), 2).to_numpy(zero_copy_only=False)
    return np.where(short, np.where(years < _PIVOT, 2000 + years, 1900 + years), years)


def _day(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    known = (year >= EARLIEST) & (year <= LATEST) & (month >= 1) & (month <= 12) & (day >= 1)
    months = (np.where(known, year, 1970) - 1970) * 12 + np.where(known, month, 1) - 1
    begins = months.astype("datetime64[M]").astype("datetime64[D]")
    made = begins + (np.where(known, day, 1) - 1)
    known &= made.astype("datetime64[M]").astype("int64") == months
    dated: np.ndarray = np.where(known, made.astype("datetime64[us]"), NAT)
    return dated


def _time(parts: _Parts) -> np.ndarray:
    """Time since midnight in UTC; NaT where there is no such time."""
    hour, minute, second = (parts.number(name, 0) for name in ("hour", "minute", "second"))
    half = parts.text("half")
    known = (hour < 24) & (minute < 60) & (second < 60)
    if half is not None:
        said = pc.fill_null(pc.utf8_lower(pc.utf8_slice_codeunits(half, 0, 1)), "").to_numpy(
            zero_copy_only=False
        )
        afternoon, morning = said == "p", said == "a"
        known &= ~((afternoon | morning) & (hour > 12))
        hour = np.where(afternoon & (hour < 12), hour + 12, np.where(morning & (hour == 12), 0, hour))
    micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + _fraction(parts) - _offset(parts)
    times: np.ndarray = np.where(known, micros.astype("timedelta64[us]"), np.timedelta64("NaT", "us"))
    return times


def _fraction(parts: _Parts) -> np.ndarray:
    fraction = parts.text("fraction")
    if fraction is None:
        return np.zeros(len(parts.texts), dtype="int64")
    padded = pc.utf8_slice_codeunits(
        pc.binary_join_element_wise(pc.fill_null(fraction, ""), "000000", ""), 0, 6
    )
    micros: np.ndarray = pc.cast(padded, pa.int64()).to_numpy(zero_copy_only=False)
    return micros


def _offset(parts: _Parts) -> np.ndarray:
    """Microseconds that the zone is ahead of UTC."""
    zone = parts.text("zone")
    if zone is None:
        return np.zeros(len(parts.texts), dtype="int64")
    encoded = pc.dictionary_encode(pc.fill_null(zone, ""))
    ahead = np.array([_ahead(text) for text in encoded.dictionary.to_pylist()], dtype="int64")
    offsets: np.ndarray = ahead[encoded.indices.to_numpy(zero_copy_only=False)]
    return offsets


def _ahead(zone: str) -> int:
    if not zone or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-1 if zone[0] == "-" else 1) * minutes * 60_000_000


EPOCHS: dict[str, int] = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds of one tick, for counts since 1970."""


def read_epoch(values: pd.Series, unit: str) -> np.ndarray:
    """`datetime64[us]` of counts since 1970, or of whole numbers such as 20240531 (`yyyymmdd`)."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
    known = np.isfinite(numbers)
    whole = np.where(known, numbers, 0)
    if unit == "yyyymmdd":
        days = whole.astype("int64")
        dated = _day(days // 10_000, days // 100 % 100, days % 100)
    else:
        micros = np.round(whole * EPOCHS[unit])
        known &= np.abs(micros) < 2**62
        dated = np.where(known, micros, 0).astype("int64").astype("datetime64[us]")
    read: np.ndarray = np.where(known, dated, NAT)
    return read
