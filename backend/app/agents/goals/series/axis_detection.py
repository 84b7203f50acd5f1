"""Detection of the time axes of a table from its profile."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from app.agents.goals.periods.names import (
    FREQUENCIES,
    PERIOD_NAMES_BY_NAME,
    PeriodName,
    common_way,
    find_month,
    find_quarter,
    find_year,
    parse_periods,
)
from app.agents.goals.periods.time_axis import (
    MIN_COVERAGE,
    MONTHS_IN,
    AxisPart,
    AxisUnit,
    MeasuredAxis,
    Period,
    TimeAxis,
    count_periods,
    measure_frequency,
)
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.tokenizer import words
from app.agents.goals.words.vocabulary import word_set

MIN_PERIOD_COLUMNS = 4
"""Columns named by periods from which a table is wide: fewer are a comparison of years."""
FIRST_YEAR, LAST_YEAR = 1600, 2200
"""Numbers that may be years: historical series begin in the 17th century."""
FIRST_EXCEL_DAY, LAST_EXCEL_DAY = 25_569, 62_502
"""Day numbers of spreadsheets from 1970 to 2071: smaller ones may be any count."""
MAX_MONTH_LETTERS = 9
"""Letters of the longest name of a month: longer names only begin like one."""
_EXCEL_EPOCH = datetime(1899, 12, 30)
_PER_YEAR: tuple[tuple[float, Period], ...] = (
    (1, "year"),
    (4, "quarter"),
    (12, "month"),
    (52.18, "week"),
    (365.25, "day"),
)
_TIME_WORD = re.compile(r"date|day|time|datum|fecha|tag|jour|when|period", re.IGNORECASE)
_HOUR_WORD = re.compile(r"hour|stunde|^hr|heure|hora|uhrzeit|clock|^time$|^hh", re.IGNORECASE)
_YEAR_WORD = re.compile(r"time|year|date|yr", re.IGNORECASE)
_MONTH_WORD = re.compile(r"month|period|date|ym|monat|mois", re.IGNORECASE)
_YEARS_OF_THINGS = word_set(
    "built build construction constructed model made make manufactured founded established renovated"
)
"""Words of years that say how old a thing is, and not when its row came about: `year_built` of houses."""
_QUARTER_NAME = re.compile(r"q(?:uarter)?[ _]?[1-4]", re.IGNORECASE)


def find_time_axes(table: TableProfile) -> list[MeasuredAxis]:
    """Find the axes that a table may have, the likeliest first."""
    columns = [
        column
        for column in table.columns
        if column.hint not in ("constant", "empty") and not _is_year_of_thing(column)
    ]
    # The year of one year's rows is constant, and its months and days are times with it alone.
    parts = [column for column in table.columns if column in columns or _is_year(column)]
    axes = [*_moment_axes(columns), *_period_axes(columns), *_part_axes(parts, table.rows)]
    wide = _wide_axis(table)
    # Numbers that look like years or days may be measurements: such axes are tried last.
    return [wide, *axes] if wide else [*axes, *_number_axes(columns)]


def _is_year_of_thing(column: Column) -> bool:
    own = {*words(column.name)}
    return bool(_YEARS_OF_THINGS & own) and not own.isdisjoint(("year", "yr", "yearbuilt"))


def parts_of_times(table: TableProfile) -> list[str]:
    """Columns that tell a time only together with others: the hours beside the days of a series."""
    axes = [measured.axis for measured in find_time_axes(table)]
    return [name for axis in axes if len(axis.parts) > 1 for name in axis.columns if name]


def _moment_axes(columns: Sequence[Column]) -> Iterator[MeasuredAxis]:
    for column in columns:
        if column.type != "datetime":
            continue
        if column.is_stored_as_text and common_way([str(value) for value in column.examples]):
            continue
        unit: AxisUnit = "text" if column.is_stored_as_text else "moment"
        part = AxisPart(column=column.name, unit=unit, spelling=column.date_spelling)
        low, high = _as_moment(column.low), _as_moment(column.high)
        axis = TimeAxis(parts=[part], day_first=column.is_day_first)
        every, step = measure_frequency(low, high, column.distinct)
        yield _with_hours(MeasuredAxis(axis, every, step, column.distinct, low, high), columns)


def _with_hours(measured: MeasuredAxis, columns: Sequence[Column]) -> MeasuredAxis:
    """Return the axis with a column of hours, if there is one beside days that repeat for each hour."""
    if measured.every not in ("day", "business_day") or measured.low is None or measured.high is None:
        return measured
    for column in columns:
        if not (_HOUR_WORD.search(column.name) and _lies_in(column, "hour", 0, 24)):
            continue
        # Half hours are more values than whole hours between their ends.
        if not 12 <= column.distinct <= min(24, column.high - column.low + 1):
            continue
        # Hours from 1 to 24 are named by their ends.
        is_ending = column.low == 1 and column.high == 24
        part = AxisPart(column=column.name, unit="hour_ending" if is_ending else "hour")
        axis = measured.axis.model_copy(update={"parts": [*measured.axis.parts, part]})
        end = measured.high + timedelta(hours=23)
        return MeasuredAxis(axis, "hour", 1, measured.times * column.distinct, measured.low, end)
    return measured


def _period_axes(columns: Sequence[Column]) -> Iterator[MeasuredAxis]:
    """Yield axes of one column of texts that name periods, or of numbers such as 202401."""
    for column in columns:
        texts = [str(value) for value in column.examples]
        way = common_way(texts)
        if way is None or way.name == "year" or (column.type == "number" and not column.is_stored_as_text):
            continue
        if way.name == "yearmonth" and column.type == "integer" and not _MONTH_WORD.search(column.name):
            continue
        every, step = FREQUENCIES[way.unit]
        low, high = _bounds(column, way, every, step)
        part = AxisPart(column=column.name, unit="period", spelling=way.name)
        yield MeasuredAxis(TimeAxis(parts=[part]), every, step, column.distinct, low, high)


def _bounds(
    column: Column, way: PeriodName, unit: Period, step: int
) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last period, by the range of the column or by the order of its first values."""
    ends = [moment for text in (column.low, column.high) if (moment := _parse_moment(text, way))]
    if len(ends) == 2:
        return ends[0], ends[1]
    moments = [moment for text in column.examples if (moment := _parse_moment(text, way))]
    if not moments:
        return None, None
    first, span = moments[0], (max(column.distinct, 1) - 1) * step
    is_falling = len(moments) > 1 and moments[1] < first
    return (_add_periods(first, unit, -span), first) if is_falling else (first, _add_periods(first, unit, span))


def _parse_moment(value: object, way: PeriodName) -> datetime | None:
    return None if value is None else _period_start(str(value), way) or _as_moment(value)


def _period_start(text: str, way: PeriodName) -> datetime | None:
    period = dict(parse_periods(text)).get(way.name)
    if period is None:
        return None
    year, part = period
    if way.unit == "week":
        return datetime.fromisocalendar(year, min(part, 52), 1)
    return datetime(
        year, {"year": 1, "half": 6 * part - 5, "quarter": 3 * part - 2, "month": part}[way.unit], 1
    )


_PART_NAMES: dict[AxisUnit, tuple[str, int, int]] = {
    "year": ("year|yr|fy|jahr|annee|année|ano|año|anno|yyyy", FIRST_YEAR, LAST_YEAR),
    "quarter": ("quarter|qtr|quartal|trimestre|q", 1, 4),
    "month": ("month|mon|mo|monat|mois|mes|mese|mm", 1, 12),
    "week": ("week|wk|isoweek|iso_week|kw|woche|semaine|semana", 1, 53),
    "day": ("day|dy|dom|tag|jour|dia|día|dd", 1, 31),
    "hour": ("hour|hr|stunde|heure|hora|hh", 0, 24),
}
"""Words in names of columns of each part of a time, and the range of its numbers."""


def _is_part(column: Column, unit: AxisUnit) -> bool:
    return re.search(rf"(?:^|[^a-z])(?:{_PART_NAMES[unit][0]})(?:$|[^a-z])", _spaced(column.name)) is not None


def _is_year(column: Column) -> bool:
    return re.fullmatch(_PART_NAMES["year"][0], _spaced(column.name)) is not None


_FINEST: dict[AxisUnit, Period] = {
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "day": "day",
    "hour": "hour",
}


def _part_axes(columns: Sequence[Column], rows: int) -> Iterator[MeasuredAxis]:
    """Yield the axis of a year with its month, quarter, week or day in columns of their own."""
    parts: dict[AxisUnit, Column] = {}
    for unit, (_, minimum, maximum) in _PART_NAMES.items():
        for column in columns:
            if unit not in parts and _is_part(column, unit) and _lies_in(column, unit, minimum, maximum):
                parts[unit] = column
    year = parts.get("year")
    if year is None:
        return
    chains: tuple[tuple[AxisUnit, ...], ...] = (
        ("month", "day", "hour"),
        ("month", "day"),
        ("week",),
        ("month",),
        ("quarter",),
        (),
    )
    # The finest chain first: rows of days have a month, too.
    chain = next(chain for chain in chains if all(unit in parts for unit in chain))
    if not chain and year.hint == "constant":
        return
    finest: Period = _FINEST[chain[-1]] if chain else "year"
    axis = TimeAxis(parts=[_make_part(unit, parts[unit]) for unit in ("year", *chain)])
    low_year, high_year = _range_of_years(year)
    low, high = datetime(low_year, 1, 1), datetime(high_year, 12, 31)
    times = year.distinct if not chain else count_periods(low, high, finest, 1)
    if not chain:
        every: Period | None = finest if times >= MIN_COVERAGE * (high_year - low_year + 1) else None
        yield MeasuredAxis(axis, every, 1, times, low, datetime(high_year, 1, 1))
        return
    if rows < times:
        times = rows
    yield MeasuredAxis(axis, finest, 1, times, low, high)


def _spaced(name: str) -> str:
    """Return a name in lower case with a blank before each capital: `SurveyYear` has the word `year`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()


_NAMED_PARTS: dict[AxisUnit, tuple[AxisUnit, Callable[[str], int | None]]] = {
    "year": ("year_name", find_year),
    "quarter": ("quarter_name", find_quarter),
    "month": ("month_name", find_month),
}
"""Parts that texts may name, with the unit of these and the reading of one."""


def _range_of_years(column: Column) -> tuple[int, int]:
    """Return the first and the last year of a column of years, or of texts that name them."""
    if column.is_number:
        return int(column.low), int(column.high)
    texts = [str(value) for value in (column.low, column.high, *column.examples) if value is not None]
    years = [year for text in texts if (year := find_year(text))]
    return min(years), max(*years, min(years) + column.distinct - 1)


def _make_part(unit: AxisUnit, column: Column) -> AxisPart:
    if column.type == "text" and unit in _NAMED_PARTS:
        return AxisPart(column=column.name, unit=_NAMED_PARTS[unit][0])
    if unit == "hour" and column.low == 1 and column.high == 24:
        return AxisPart(column=column.name, unit="hour_ending")
    return AxisPart(column=column.name, unit=unit)


def _lies_in(column: Column, unit: AxisUnit, low: int, high: int) -> bool:
    if column.type == "text" and not column.is_number:
        if unit not in _NAMED_PARTS or not column.examples:
            return False
        return all(_NAMED_PARTS[unit][1](str(value)) for value in column.examples)
    if not isinstance(column.low, int | float) or not isinstance(column.high, int | float):
        return False
    return column.is_number and low <= column.low <= column.high <= high and float(column.low).is_integer()


def _number_axes(columns: Sequence[Column]) -> Iterator[MeasuredAxis]:
    """Yield axes of decimal years (1949.083) and of the day numbers of spreadsheets."""
    for column in columns:
        if not isinstance(column.low, int | float) or not isinstance(column.high, int | float):
            continue
        low, high, times = float(column.low), float(column.high), column.distinct
        is_date = FIRST_EXCEL_DAY <= low < high <= LAST_EXCEL_DAY and _TIME_WORD.search(column.name)
        if column.type == "integer" and is_date:
            first, last = _EXCEL_EPOCH + timedelta(days=low), _EXCEL_EPOCH + timedelta(days=high)
            every, step = measure_frequency(first, last, times)
            part = AxisPart(column=column.name, unit="day_number")
            yield MeasuredAxis(TimeAxis(parts=[part]), every, step, times, first, last)
        elif FIRST_YEAR <= low < high <= LAST_YEAR and times > 2 and _YEAR_WORD.search(column.name):
            unit = _decimal_unit((times - 1) / (high - low))
            if unit is not None:
                part = AxisPart(column=column.name, unit="decimal_year", spelling=unit)
                first, last = _decimal_moment(low), _decimal_moment(high)
                yield MeasuredAxis(TimeAxis(parts=[part]), unit, 1, times, first, last)


def _decimal_unit(per_year: float) -> Period | None:
    return next((unit for count, unit in _PER_YEAR if abs(per_year / count - 1) < 0.02), None)


def _decimal_moment(value: float) -> datetime:
    year = int(value)
    return datetime(year, 1, 1) + timedelta(days=round((value - year) * 365.25))


def _wide_axis(table: TableProfile) -> MeasuredAxis | None:
    """Return the axis of a table with a column for each period, or for each month beside a column of years."""
    by_way: dict[str, list[Column]] = {}
    for column in table.columns:
        if column.is_number or column.hint in ("constant", "empty", "numeric"):
            ways = [way for way, _ in parse_periods(column.name)]
            for way in [*ways, *(["day"] if _parse_day(column.name) else [])]:
                by_way.setdefault(way, []).append(column)
    way, members = max(by_way.items(), key=lambda entry: len(entry[1]), default=("", []))
    if len(members) >= MIN_PERIOD_COLUMNS and len(members) > len(table.columns) / 3:
        axis = TimeAxis(
            parts=[AxisPart(column="", unit="period" if way != "day" else "moment", spelling=way)],
            period_columns=[column.name for column in members],
        )
        if way == "day":
            moments = sorted(day for column in members if (day := _parse_day(column.name)))
            every, step = measure_frequency(moments[0], moments[-1], len(moments))
        else:
            name = PERIOD_NAMES_BY_NAME[way]
            moments = sorted(start for column in members if (start := _period_start(column.name, name)))
            every, step = FREQUENCIES[name.unit]
        measured = MeasuredAxis(axis, every, step, len(moments), moments[0], moments[-1])
        return _with_rows_of_months(measured, table) if way == "year" else measured
    return _month_columns_axis(table)


def _with_rows_of_months(measured: MeasuredAxis, table: TableProfile) -> MeasuredAxis:
    """Return the axis of columns of years with a row for each month or quarter, if the rows are that."""
    years = measured.axis.parts[-1]
    for unit, count in _ROWS_OF_YEARS.items():
        for column in table.columns:
            low, high = (column.low, column.high) if column.is_number else (1, count)
            is_whole = column.distinct == count and (low, high) == (1, count)
            if not is_whole or column.name in measured.axis.period_columns:
                continue
            if not _lies_in(column, unit, 1, count) or (column.is_number and not _is_part(column, unit)):
                continue
            axis = measured.axis.model_copy(update={"parts": [_make_part(unit, column), years]})
            end = datetime(measured.high.year, 13 - 12 // count, 1) if measured.high else None
            return MeasuredAxis(axis, _FINEST[unit], 1, measured.times * count, measured.low, end)
    return measured


_ROWS_OF_YEARS: dict[AxisUnit, int] = {"month": 12, "quarter": 4}
"""Parts of years that may have rows beside columns of years, with their number in a year."""


def _parse_day(name: str) -> datetime | None:
    match = re.fullmatch(r"x?([12]\d{3})[-._/](\d\d)[-._/](\d\d)", name.strip().casefold())
    if match is None:
        return None
    try:
        return datetime(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _month_columns_axis(table: TableProfile) -> MeasuredAxis | None:
    """Return the axis of rows of years with a column for each month or quarter."""
    years = [c for c in table.columns if c.type == "integer" and _lies_in(c, "year", FIRST_YEAR, LAST_YEAR)]
    numbers = [column.name for column in table.columns if column.is_number]
    months = [name for name in numbers if len(name) <= MAX_MONTH_LETTERS and find_month(name)]
    quarters = [name for name in numbers if _QUARTER_NAME.fullmatch(name)]
    if len(years) != 1 or (len(months) != 12 and len(quarters) != 4):
        return None
    names, unit = (months, "month") if len(months) == 12 else (quarters, "quarter")
    low, high = datetime(int(years[0].low), 1, 1), datetime(int(years[0].high), 12, 1)
    every: Period = "month" if unit == "month" else "quarter"
    axis = TimeAxis(
        parts=[AxisPart(column=years[0].name, unit="year"), AxisPart(column="", unit=every, spelling=unit)],
        period_columns=names,
    )
    return MeasuredAxis(axis, every, 1, years[0].distinct * len(names), low, high)


def _add_periods(low: datetime, unit: Period, count: int) -> datetime:
    """Return the start of a month, quarter, year or week so many periods later."""
    if unit not in MONTHS_IN:
        return low + timedelta(days=7 * count)
    months = low.month - 1 + count * MONTHS_IN[unit]
    return datetime(low.year + months // 12, months % 12 + 1, 1)


def _as_moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None
