"""Spellings of dates, as patterns that Python and Arrow understand, and as formats of `strptime`.

The only table of them: uploads and prices derive their SQL from it, so the module imports no science library.
"""

OFFSET_PATTERN = r"[+-](?:0\d|1[0-5])(?::?[0-5]\d)?"
"""Offset from UTC, of 15:59 hours at most: DuckDB reads no larger one, and real ones end at 14 hours."""

ZONE_OFFSETS_H: dict[str, float] = {
    **{"WET": 0, "WEST": 1, "BST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3, "MSK": 3},
    **{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7},
    **{"JST": 9, "KST": 9, "SGT": 8, "HKT": 8, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13},
}
"""Abbreviation of a time zone -> hours ahead of UTC. Those of North America as it uses them."""

# Gaps are bounded: neighbouring ones share their spaces in every way, and Arrow's engine, which reads these
# patterns too, has no possessive repeats.
_ZONE = (
    rf"(?P<zone>(?:Z|(?:UTC|GMT)(?:[+-]\d{{1,2}}(?::?[0-5]\d)?)?|{OFFSET_PATTERN}|{'|'.join(ZONE_OFFSETS_H)})?)"
)
_CLOCK = (
    r"(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s{0,9}(?P<half>(?:[AaPp]\.?[Mm]\.?)?)(?:\s(?:Uhr|uhr|hrs|h))?"
)
_TIME = rf"(?:(?:[T ,:]|\s-\s|\sat\s|\sum\s)\s{{0,9}}{_CLOCK})?\s{{0,9}}{_ZONE}$"
_WEEKDAYS = (
    "mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|mi\u00e9|mie|jue|vie|s\u00e1b|sab|dom"
    "|gio|ma|wo|vr|za|zo|seg|ter|qua|qui|sex"
)
_WEEKDAY = rf"^(?:(?i:{_WEEKDAYS})\pL{{0,8}}\.?,?\s{{1,9}})?"
_MONTH = r"(?P<month_name>\pL{3,10})"
_ORDINAL = "(?:st|nd|rd|th|er|\u00ba|\\.)?"
_QUARTER = r"(?:[QqTt]|(?i:qtr|quarter|quartal|trimestre|trim)\.?\s?)"
_WEEK = r"(?:[Ww]|[Kk][Ww]\.?|(?i:week|woche|semaine|semana)|(?i:wk)\.?)"

SPELLINGS: dict[str, str] = {
    "year-month-day": r"^(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME,
    "day and month": _WEEKDAY
    + r"(?P<first_number>\d{1,2})[-/.](?P<second_number>\d{1,2})[-/.](?P<year>\d{4}|\d{2})"
    + _TIME,
    "day month year": _WEEKDAY
    + rf"(?P<day>\d{{1,2}}){_ORDINAL}(?:\s(?:de|of)\s|[-\s/.]{{0,9}}){_MONTH}"
    + r"\.?(?:\s(?:de|del)\s|[-\s/.,']{0,9})(?P<year>\d{4}|\d{2})"
    + _TIME,
    "month day, year": _WEEKDAY
    + rf"{_MONTH}\.?\s{{1,9}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{{1,9}}(?P<year>\d{{4}})"
    + _TIME,
    "month day time year": rf"{_WEEKDAY}{_MONTH}\s{{1,9}}(?P<day>\d{{1,2}})\s{_CLOCK}\s{{0,9}}{_ZONE}"
    r"\s(?P<year>\d{4})$",
    "yearmonthday": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})Z?)?$",
    # Without the mark between them, twelve digits may be any code.
    "yearmonthday time": r"^(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})[T ](?P<hour>\d{2}):?(?P<minute>\d{2})"
    rf"(?::?(?P<second>\d{{2}})(?:[.,](?P<fraction>\d{{1,9}}))?)?{_ZONE}$",
    "month year": rf"^{_MONTH}\.?(?:\sde\s|[-\s/,.]{{0,9}})(?P<year>\d{{4}})$",
    # A space and two digits may be a day: `Mar 24`.
    "month short year": rf"^{_MONTH}\.?\s?[-/']'?(?P<year>\d{{2}})$",
    "year month": rf"^(?P<year>\d{{4}})[-\s/,.]{{0,9}}{_MONTH}\.?$",
    "year-month": r"^(?P<year>\d{4})(?:[-/:]|[-\s]?[Mm])(?P<month>\d{1,2})$",
    "month-year": r"^(?P<month>\d{1,2})[-/.](?P<year>\d{4})$",
    "year quarter": rf"^(?P<year>\d{{4}})[-\s/:.,]{{0,3}}{_QUARTER}(?P<quarter>[1-4])$",
    "quarter year": rf"^{_QUARTER}(?P<quarter>[1-4])[-\s/:.,']{{0,3}}(?P<year>\d{{4}}|\d{{2}})$",
    "numbered quarter": rf"^(?P<quarter>[1-4]){_ORDINAL}[-\s]{{0,3}}{_QUARTER}[-\s/:.,']{{0,3}}"
    r"(?P<year>\d{4}|\d{2})$",
    "year half": r"^(?P<year>\d{4})[-\s/:.,]{0,3}[HhSs](?P<half_year>[12])$",
    "half year": r"^[HhSs](?P<half_year>[12])[-\s/:.,']{0,3}(?P<year>\d{4}|\d{2})$",
    "year week": rf"^(?P<year>\d{{4}})[-\s/:.,]{{0,3}}{_WEEK}\s?(?P<week>\d{{1,2}})(?:-?(?P<weekday>[1-7]))?$",
    "week year": rf"^{_WEEK}[-\s]?(?P<week>\d{{1,2}})[-\s/:.,']{{0,3}}(?P<year>\d{{4}})$",
}
"""Spelling -> pattern, in the order of trial. In `day and month` the order of the two is the column's. Months,
quarters, half years and weeks are read as their first day."""

_NAMES = (
    "jan january januar j\u00e4n j\u00e4nner janvier janv enero ene gennaio gen janeiro januari",
    "feb february februar f\u00e9vrier f\u00e9vr f\u00e9v fevrier fevr febrero febbraio fevereiro fev februari",
    "mar march m\u00e4rz m\u00e4r maerz mrz mars marzo mar\u00e7o maart mrt",
    "apr april avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei maj",
    "jun june juni juin junio giugno giu junho",
    "jul july juli juillet juil julio luglio lug julho",
    "aug august ao\u00fbt aout ao\u00fb agosto ago augustus augusti",
    "sep sept september septembre septiembre settembre set setembro",
    "oct okt october oktober octobre octubre ottobre ott outubro out",
    "nov november novembre noviembre novembro",
    "dec dez december dezember d\u00e9cembre d\u00e9c decembre diciembre dic dicembre dezembro",
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
MIN_YEAR, MAX_YEAR = 1500, 2500
"""Years outside are no dates: files use 9999 or 0001 for "never"."""
CENTURY_PIVOT = 69
"""Two-digit years below belong to this century, as in POSIX `strptime`."""

TIME_FORMATS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
"""Times of day after a date, as formats of `strptime`."""
COMPACT_TIME_FORMATS = (" %H%M", " %H%M%S")
