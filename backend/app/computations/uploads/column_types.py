"""Which plain type a column of text holds, and the SQL that reads it as that type.

A reading is a rule for one spelling of one type. A column takes the first reading that all its values keep;
else it stays text, with a note where it nearly was something else.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

MISSING = ("", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "<NA>")
"""Read as missing in every column."""
MISSING_MEASURES = ("-", "--", "?", ".", "None", "none", "missing", "Missing", "unknown", "#DIV/0!", "#VALUE!")
"""Read as missing too, where everything else in the column is a number, a date or a boolean."""

_SIGN = r"[+-]?"
_TIME = r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)"
_OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2})?)"


@dataclass(frozen=True)
class Reading:
    """A plain `type`, the `pattern` of a value, SQL for `{c}`; `attempt` gives NULL where `sql` fails.

    `sql` fails rather than change a value: DuckDB's own casts read 1.5 as 2, 0x10 as 16 and 007 as 7.
    """

    name: str
    type: str
    pattern: str
    sql: str
    attempt: str

    def fits(self, value: str) -> bool:
        return re.fullmatch(self.pattern, value) is not None


def _checked(name: str, type_: str, pattern: str, sql_type: str, check: str, source: str = "{c}") -> Reading:
    """A cast that `check` must confirm; what it does not is cast from a text that cannot be."""
    cast = f"CAST({source} AS {sql_type})"
    checked = f"CASE WHEN {check.replace('{cast}', cast)} THEN {cast} ELSE CAST('!' || {{c}} AS {sql_type}) END"
    return Reading(name, type_, pattern, checked, f"TRY_CAST({source} AS {sql_type})")


def _cast(name: str, type_: str, pattern: str, sql_type: str) -> Reading:
    return Reading(name, type_, pattern, f"CAST({{c}} AS {sql_type})", f"TRY_CAST({{c}} AS {sql_type})")


def _dated(name: str, pattern: str, *formats: str) -> Reading:
    pattern = rf"\s*{pattern}\s*"
    spelled = "[" + ", ".join(f"'{form}'" for form in formats) + "]"
    return Reading(
        name, "datetime", pattern, f"strptime(trim({{c}}), {spelled})", f"try_strptime(trim({{c}}), {spelled})"
    )


def _day_first(mark: str, regex: str) -> tuple[Reading, Reading]:
    times = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
    pattern = rf"\d{{1,2}}{regex}\d{{1,2}}{regex}\d{{4}}{_TIME.replace('[ T]', ' ')}?"
    day, month = f"%d{mark}%m{mark}%Y", f"%m{mark}%d{mark}%Y"
    return (
        _dated(f"day{mark}month{mark}year", pattern, *(day + time for time in times)),
        _dated(f"month{mark}day{mark}year", pattern, *(month + time for time in times)),
    )


_DATE = r"\d{4}-\d{1,2}-\d{1,2}"
# The zone-aware instant, told in UTC without a zone.
_INSTANT = "timezone('UTC', {cast}({{c}} AS TIMESTAMPTZ))"

_DIGITS = r"(?:0|[1-9]\d{0,17})"
_SIGNED = rf"\s*{_SIGN}{_DIGITS}\s*"

BOOLEAN = _cast("true/false", "boolean", r"\s*(?i:true|false)\s*", "BOOLEAN")
INTEGER = _checked("integer", "integer", r"0|-?[1-9]\d{0,17}", "BIGINT", "CAST({cast} AS VARCHAR) = {c}")
SIGNED = _checked("signed integer", "integer", _SIGNED, "BIGINT", f"regexp_full_match({{c}}, '{_SIGNED}')")
NUMBER = _checked(
    "number",
    "number",
    rf"\s*{_SIGN}(?:{_DIGITS}|(?:0|[1-9]\d*)\.\d*|\.\d+)(?:[eE][+-]?\d+)?\s*",
    "DOUBLE",
    "isfinite({cast})",
)
COMMA = _checked(
    "decimal comma",
    "number",
    rf"\s*{_SIGN}(?:{_DIGITS}|(?:0|[1-9]\d*),\d*|,\d+)(?:[eE][+-]?\d+)?\s*",
    "DOUBLE",
    "NOT contains({c}, '.') AND isfinite({cast})",
    "replace({c}, ',', '.')",
)
INSTANT = Reading(
    "date and time with zone",
    "datetime",
    rf"\s*{_DATE}{_TIME} ?{_OFFSET}\s*",
    _INSTANT.format(cast="CAST"),
    _INSTANT.format(cast="TRY_CAST"),
)
DATE = _cast("date and time", "datetime", rf"\s*{_DATE}{_TIME}?\s*", "TIMESTAMP")
SLASHED = _dated(
    "year/month/day", rf"\d{{4}}/\d{{1,2}}/\d{{1,2}}{_TIME.replace('[ T]', ' ')}?",
    "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f",
)  # fmt: skip
NAMED = _dated(
    "day month year by name",
    r"\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{4}",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d-%B-%Y",
    "%d %B %Y",
)
_TWINS = tuple(_day_first(mark, regex) for mark, regex in (("/", "/"), (".", r"\."), ("-", "-")))
THOUSANDS = re.compile(rf"{_SIGN}\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|{_SIGN}\d{{1,3}}(?:\.\d{{3}})+,\d+")

READINGS: tuple[Reading, ...] = (
    BOOLEAN, INTEGER, SIGNED, NUMBER, COMMA, INSTANT, DATE, SLASHED, NAMED, *chain.from_iterable(_TWINS),
)  # fmt: skip
TEXT = Reading("text", "text", r"(?s:.*)", "{c}", "{c}")


@dataclass(frozen=True)
class Verdict:
    """How a column is read; `note` says what was noticed; `blanks`: tokens that are missing here too."""

    reading: Reading
    blanks: tuple[str, ...] = ()
    note: str = ""


def judge(
    name: str, values: Sequence[str], comma: bool, fits: Callable[[Reading], bool] | None = None
) -> Verdict:
    """The reading of a column from its values that are not missing.

    `comma`: a comma can be a decimal mark in this file. `fits` answers for the whole column when `values` are
    only a sample that misled before.
    """
    blanks = tuple(sorted({value for value in values if value.strip() in MISSING_MEASURES}))
    told = [value for value in values if value.strip() not in MISSING_MEASURES]
    if not told:
        return Verdict(TEXT)
    fits = fits or _fits_all(told)
    possible = [reading for reading in READINGS if (comma or reading is not COMMA) and fits(reading)]
    if not possible:
        return Verdict(TEXT, note=_nearly(name, told))
    if ambiguous(possible):
        return Verdict(
            TEXT,
            note=f"{name}: day and month cannot be told apart in dates such as {told[0][:40]}; kept as text.",
        )
    reading = possible[0]
    if reading is COMMA and all("," not in value or THOUSANDS.fullmatch(value.strip()) for value in told):
        return Verdict(
            TEXT, note=f"{name}: a comma may be a decimal or a thousands mark in {told[0][:40]}; kept as text."
        )
    return Verdict(reading, blanks)


def ambiguous(possible: Sequence[Reading]) -> bool:
    """Both orders of day and month are possible."""
    return any(day in possible and month in possible for day, month in _TWINS)


def _fits_all(values: Sequence[str]) -> Callable[[Reading], bool]:
    def fits(reading: Reading) -> bool:
        return all(reading.fits(value) and _order_possible(reading, value) for value in values)

    return fits


def _order_possible(reading: Reading, value: str) -> bool:
    for day_first, month_first in _TWINS:
        if reading in (day_first, month_first):
            first, second = (int(part) for part in re.findall(r"\d+", value)[:2])
            day, month = (first, second) if reading is day_first else (second, first)
            return 1 <= day <= 31 and 1 <= month <= 12
    return True


def _nearly(name: str, values: Sequence[str]) -> str:
    thousands = sum(THOUSANDS.fullmatch(value.strip()) is not None for value in values)
    if thousands > len(values) * 0.1:
        return f"{name}: numbers with thousands separators are kept as text."
    numbers = [NUMBER.fits(value) for value in values]
    if sum(numbers) >= len(values) * 0.5:
        odd = next(value for value, is_number in zip(values, numbers, strict=True) if not is_number)
        if not re.fullmatch(r"0\d+", odd.strip()):
            return f"{name}: not only numbers (for example {odd[:40]!r}); kept as text."
    return ""
