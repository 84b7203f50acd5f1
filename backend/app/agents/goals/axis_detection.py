"""Detection of the time axes of a table from its profile."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

from app.agents.goals.period_names import PERIOD_NAMES_BY_NAME, common_way, find_month, parse_period
from app.agents.goals.tables import Column, TableProfile
from app.agents.goals.time_axis import (
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
_HOUR_WORD = re.compile(r"hour|stunde|^hr|heure|hora", re.IGNORECASE)
_YEAR_WORD = re.compile(r"time|year|date|yr", re.IGNORECASE)
_MONTH_WORD = re.compile(r"month|period|date|ym|monat|mois", re.IGNORECASE)
_QUARTER_NAME = re.compile(r"q(?:uarter)?[ _]?[1-4]", re.IGNORECASE)


def find_time_axes(table: TableProfile) -> list[MeasuredAxis]:
    """Find the axes that a table may have, the likeliest first."""
    columns = [column for column in table.columns if column.hint not in ("constant", "empty")]
    axes = [*_moment_axes(columns), *_period_axes(columns), *_part_axes(columns, table.rows)]
    wide = _wide_axis(table)
    return [wide, *axes] if wide else [*axes, *_number_axes(columns)]


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
        if column.type != "integer" or not 12 <= column.distinct <= 24 or not _HOUR_WORD.search(column.name):
            continue
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
        low, high = _bounds(column, way.unit)
        part = AxisPart(column=column.name, unit="period", spelling=way.name)
        yield MeasuredAxis(TimeAxis(parts=[part]), way.unit, 1, column.distinct, low, high)


def _bounds(column: Column, unit: Period) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last period, by the range of the column or by the order of its first values."""
    ends = [moment for text in (column.low, column.high) if (moment := _parse_moment(text))]
    if len(ends) == 2:
        return ends[0], ends[1]
    moments = [moment for text in column.examples if (moment := _parse_moment(text))]
    if not moments:
        return None, None
    first, span = moments[0], max(column.distinct, 1) - 1
    is_falling = len(moments) > 1 and moments[1] < first
    return (_add_periods(first, unit, -span), first) if is_falling else (first, _add_periods(first, unit, span))


def _parse_moment(value: object) -> datetime | None:
    return None if value is None else _period_start(str(value)) or _as_moment(value)


def _period_start(text: str) -> datetime | None:
    parsed = parse_period(text)
    if parsed is None:
        return None
    (year, part), unit = parsed[1], PERIOD_NAMES_BY_NAME[parsed[0]].unit
    if unit == "week":
        return datetime.fromisocalendar(year, min(part, 52), 1)
    return datetime(year, {"year": 1, "quarter": 3 * part - 2, "month": part}[unit], 1)


_PART_NAMES: tuple[tuple[AxisUnit, str, int, int], ...] = (
    ("year", r"(?:^|[^a-z])(?:year|yr|jahr|annee|année|ano|año|anno|yyyy)(?:$|[^a-z])", FIRST_YEAR, LAST_YEAR),
    ("quarter", r"(?:^|[^a-z])(?:quarter|qtr|quartal|trimestre|q)(?:$|[^a-z])", 1, 4),
    ("month", r"(?:^|[^a-z])(?:month|mon|mo|monat|mois|mes|mese|mm)(?:$|[^a-z])", 1, 12),
    ("week", r"(?:^|[^a-z])(?:week|wk|isoweek|iso_week|kw|woche|semaine|semana)(?:$|[^a-z])", 1, 53),
    ("day", r"(?:^|[^a-z])(?:day|dy|dom|tag|jour|dia|día|dd)(?:$|[^a-z])", 1, 31),
    ("hour", r"(?:^|[^a-z])(?:hour|hr|stunde|heure|hora|hh)(?:$|[^a-z])", 0, 24),
)


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
    for unit, pattern, minimum, maximum in _PART_NAMES:
        for column in columns:
            is_named = re.search(pattern, _spaced(column.name)) is not None
            if unit not in parts and is_named and _lies_in(column, unit, minimum, maximum):
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
    chain = next(chain for chain in chains if all(unit in parts for unit in chain))
    finest: Period = _FINEST[chain[-1]] if chain else "year"
    axis = TimeAxis(parts=[_make_part(unit, parts[unit]) for unit in ("year", *chain)])
    low_year, high_year = int(year.low), int(year.high)
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


def _make_part(unit: AxisUnit, column: Column) -> AxisPart:
    if unit == "month" and column.type == "text":
        return AxisPart(column=column.name, unit="month_name")
    if unit == "hour" and column.low == 1 and column.high == 24:
        return AxisPart(column=column.name, unit="hour_ending")
    return AxisPart(column=column.name, unit=unit)


def _lies_in(column: Column, unit: AxisUnit, low: int, high: int) -> bool:
    if column.type == "text" and not column.is_number:
        return unit == "month" and bool(column.examples) and all(find_month(str(v)) for v in column.examples)
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
    parsed_names = [(column, parse_period(column.name) or _parse_day(column.name)) for column in table.columns]
    by_way: dict[str, list[tuple[Column, tuple[int, ...]]]] = {}
    for column, parsed in parsed_names:
        if parsed and (column.is_number or column.hint in ("constant", "empty", "numeric")):
            by_way.setdefault(parsed[0], []).append((column, parsed[1]))
    best = max(by_way.items(), key=lambda entry: len(entry[1]), default=None)
    if best and len(best[1]) >= MIN_PERIOD_COLUMNS and len(best[1]) > len(table.columns) / 3:
        way, members = best
        axis = TimeAxis(
            parts=[AxisPart(column="", unit="period" if way != "day" else "moment", spelling=way)],
            period_columns=[column.name for column, _ in members],
        )
        if way == "day":
            moments = sorted(datetime(values[0], values[1], values[2]) for _, values in members)
            every, step = measure_frequency(moments[0], moments[-1], len(moments))
        else:
            starts = (_period_start(column.name) for column, _ in members)
            moments = sorted(moment for moment in starts if moment)
            every, step = PERIOD_NAMES_BY_NAME[way].unit, 1
        return MeasuredAxis(axis, every, step, len(moments), moments[0], moments[-1])
    return _month_columns_axis(table)


def _parse_day(name: str) -> tuple[str, tuple[int, ...]] | None:
    match = re.fullmatch(r"x?([12]\d{3})[-._/](\d\d)[-._/](\d\d)", name.strip().casefold())
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    return "day", (day.year, day.month, day.day)


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
