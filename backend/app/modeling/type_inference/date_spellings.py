"""Spellings of dates, as patterns that Python and Arrow understand, and as formats of `strptime`.

The only table of them: uploads and prices derive their SQL from it, so the module imports no science library.
"""

OFFSET_PATTERN = r"[+-](?:0\d|1[0-5])(?::?[0-5]\d)?"
"""Offset from UTC, of 15:59 hours at most: DuckDB reads no larger one, and real ones end at 14 hours."""

# Gaps are bounded: neighbouring ones share their spaces in every way, and Arrow's engine, which reads these
# patterns too, has no possessive repeats.
_TIME = (
    r"(?:[T ,]\s{0,9}(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    rf"\s{{0,9}}(?P<half>(?:[AaPp]\.?[Mm]\.?)?))?\s{{0,9}}(?P<zone>(?:Z|UTC|GMT|{OFFSET_PATTERN})?)$"
)
_WEEKDAY = r"^(?:(?:[Mm]on|[Tt]ue|[Ww]ed|[Tt]hu|[Ff]ri|[Ss]at|[Ss]un)[a-z]{0,9}\.?,?\s{1,9})?"
_MONTH = r"(?P<month_name>\pL{3,10})"

SPELLINGS: dict[str, str] = {
    "year-month-day": r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME,
    "day and month": r"^(?P<first_number>\d{1,2})[-/.](?P<second_number>\d{1,2})[-/.](?P<year>\d{4}|\d{2})"
    + _TIME,
    "day month year": _WEEKDAY
    + rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s/.]{{0,9}}{_MONTH}\.?[-\s/.,]{{1,9}}(?P<year>\d{{4}}|\d{{2}})"
    + _TIME,
    "month day, year": _WEEKDAY
    + rf"{_MONTH}\.?\s{{1,9}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{{1,9}}(?P<year>\d{{4}})"
    + _TIME,
    "yearmonthday": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})Z?)?$",
    # Without the mark between them, twelve digits may be any code.
    "yearmonthday time": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})[T ](?P<hour>\d{2}):?(?P<minute>\d{2})"
    rf"(?::?(?P<second>\d{{2}})(?:[.,](?P<fraction>\d{{1,9}}))?)?(?P<zone>(?:Z|UTC|GMT|{OFFSET_PATTERN})?)$",
    "month year": rf"^{_MONTH}\.?[-\s/,]{{1,9}}(?P<year>\d{{4}})$",
    "year-month": r"^(?P<year>\d{4})[-/](?P<month>\d{1,2})$",
}
"""Spelling -> pattern, in the order of trial. In `day and month` the order of the two is the column's."""

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
MONTH_NUMBERS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
MIN_YEAR, MAX_YEAR = 1500, 2500
"""Years outside are no dates: files use 9999 or 0001 for "never"."""

TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
"""Times of day after a date, as formats of `strptime`."""
COMPACT_TIME_FORMATS = (" %H%M", " %H%M%S")
