"""SQL that parses the cells of a bar: its time in microseconds since 1970, its measures, its coin."""

from collections.abc import Mapping
from dataclasses import replace

from app.computations.uploads import sql
from app.computations.uploads.cell_sql import date_cell, fits_format, number_cell
from app.modeling.type_inference.date_spellings import MAX_YEAR, MIN_YEAR
from app.modeling.type_inference.number_spellings import NumberFormat
from app.modeling.type_inference.units import CURRENCIES, MAGNITUDES
from app.plans.identifiers import quote_identifier

# The limit of 1e11 is the year 5138 in seconds and 1973 in milliseconds, so all bars since then are told apart.
_BY_SIZE = (
    "CASE WHEN abs({c}) < 1e11 THEN CAST({c} * 1000000 AS BIGINT) WHEN abs({c}) < 1e14"
    " THEN CAST({c} * 1000 AS BIGINT) WHEN abs({c}) < 1e17 THEN CAST({c} AS BIGINT)"
    " WHEN abs({c}) < 9e18 THEN CAST({c} AS BIGINT) // 1000 END"
)
MEASURE_FORMAT = NumberFormat(before=dict.fromkeys(sorted(CURRENCIES), 1.0), after=MAGNITUDES)
"""`1,234.5`, `1.2K` or `$12.50`."""
COMMA_FORMAT = replace(MEASURE_FORMAT, decimal=",", group=".")
"""`1.234,5`."""
_PLAIN_FORMAT = replace(MEASURE_FORMAT, group="")


def is_date_number(cell: str) -> str:
    """SQL that is true for a whole number that is a date, such as 20240531."""
    return (
        f"({cell} BETWEEN {MIN_YEAR}0101 AND {MAX_YEAR}1231"
        f" AND TRY_STRPTIME(CAST(CAST({cell} AS BIGINT) AS VARCHAR), '%Y%m%d') IS NOT NULL)"
    )


def time_sql(types: Mapping[str, str], column: str, time: str | None, zone: str | None) -> str:
    """SQL of microseconds since 1970, NULL if the cell is no time.

    `types`: the plain type of each column. Numbers are seconds, milli-, micro- or nanoseconds by their size, or
    dates such as 20240531. `zone`: the time zone of the file's dates and times.
    """
    cell, kind = quote_identifier(column), types[column]
    if time is not None:
        return _in_zone(f"{_day(cell, kind)} + {_time_of_day(quote_identifier(time), types[time])}", zone)
    if kind == "datetime":
        return _in_zone(cell, zone)
    if kind != "text":
        return _number_time(cell, zone)
    # A column of numbers with a word in it is text, and so are nanoseconds, which have 19 digits.
    date = _in_zone(date_cell(cell), zone)
    number = f"TRY_CAST(trim({cell}) AS BIGINT)"
    return f"CASE WHEN {number} IS NULL THEN {date} ELSE {_number_time(number, zone)} END"


def has_decimal_comma(cell: str) -> str:
    """SQL that is true for text that must have a decimal comma, such as `1.234,5` and `1.234.567`."""
    return f"({fits_format(cell, COMMA_FORMAT)} AND NOT {fits_format(cell, MEASURE_FORMAT)})"


def measure_sql(types: Mapping[str, str], column: str, comma: bool = False) -> str:
    """SQL of a number; text may be in MEASURE_FORMAT, with `comma` in COMMA_FORMAT."""
    if not column:
        return "0.0"
    cell = quote_identifier(column)
    if types[column] != "text":
        return f"TRY_CAST({cell} AS DOUBLE)"
    # Some exports mix 1234.5 into a column with decimal commas, as `parsers.NumberParser` knows too.
    formats = (COMMA_FORMAT, _PLAIN_FORMAT) if comma else (MEASURE_FORMAT,)
    simple = f"WHEN {_is_simple(cell, formats[0])} THEN {_simple(cell, formats[0])}"
    return f"CASE {simple} ELSE {number_cell(cell, *formats)} END"


def _is_simple(cell: str, number_format: NumberFormat) -> str:
    # Five times as fast as `number_cell`, and nearly all prices are so simple.
    return f"regexp_full_match({cell}, {sql.text('[$€£¥]? ?' + number_format.unsigned_pattern)})"


def _simple(cell: str, number_format: NumberFormat) -> str:
    """SQL of a number without a sign, after one character of a currency at most."""
    digits = f"replace(ltrim({cell}, ' $€£¥'), {sql.text(number_format.group)}, '')"
    return f"TRY_CAST(replace({digits}, {sql.text(number_format.decimal)}, '.') AS DOUBLE)"


def coin_sql(column: str, coin: str | None) -> str:
    """SQL of the coin in capitals, NULL if its name is invalid."""
    value = sql.text(coin) if coin is not None else f"CAST({quote_identifier(column)} AS VARCHAR)"
    name = f"upper(trim({value}))"
    return f"CASE WHEN regexp_full_match({name}, '[A-Z0-9^][A-Z0-9._:/=-]{{0,31}}') THEN {name} END"


def _number_time(cell: str, zone: str | None) -> str:
    days = _in_zone(_day(cell, "integer"), zone)
    return f"CASE WHEN {is_date_number(cell)} THEN {days} ELSE {_BY_SIZE.replace('{c}', cell)} END"


def _day(cell: str, kind: str) -> str:
    if kind in ("integer", "number"):
        return f"TRY_STRPTIME(CAST(CAST({cell} AS BIGINT) AS VARCHAR), '%Y%m%d')"
    if kind == "datetime":
        return f"date_trunc('day', {cell})"
    return f"CAST(TRY_CAST(replace({cell}, '.', '-') AS DATE) AS TIMESTAMP)"


def _time_of_day(cell: str, kind: str) -> str:
    """SQL of the interval since midnight: from `09:30:00`, 093000 or 0930."""
    if kind == "datetime":
        return f"({cell} - date_trunc('day', {cell}))"
    spelled = f"trim(CAST({cell} AS VARCHAR))"
    digits = f"TRY_CAST({spelled} AS BIGINT)"
    # Up to four digits are hours and minutes: 0930 has no seconds.
    clock = f"CASE WHEN length({spelled}) <= 4 THEN {digits} * 100 ELSE {digits} END"
    seconds = f"({clock}) // 10000 * 3600 + ({clock}) // 100 % 100 * 60 + ({clock}) % 100"
    return f"CASE WHEN {digits} IS NULL THEN TRY_CAST({spelled} AS INTERVAL) ELSE to_seconds({seconds}) END"


def _in_zone(stamp: str, zone: str | None) -> str:
    return f"epoch_us(timezone({sql.text(zone)}, {stamp}))" if zone else f"epoch_us({stamp})"
