"""The SELECT that makes a regular series, or several, of a table's rows.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.queries.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from collections.abc import Sequence

from app.agents.goals.conditions.row_conditions import RowCondition, select_rows
from app.agents.goals.periods.names import (
    PERIOD_NAMES_BY_NAME,
    first_day_sql,
    month_number_sql,
    period_sql,
    quarter_sql,
    year_sql,
)
from app.agents.goals.periods.time_axis import AxisPart, TimeAxis
from app.agents.goals.series.select_sql import (
    KEY_SEPARATOR,
    NumberText,
    PeriodAggregation,
)
from app.plans.identifiers import quote_identifier

_INTERVALS = {"quarter": ("MONTH", 3), "week": ("DAY", 7), "business_day": ("DAY", 1)}
_TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f")
_DATE_FORMATS = {
    "day first": ("%d/%m/%y", "%d/%m/%Y", "%d.%m.%y", "%d.%m.%Y", "%d-%m-%y", "%d-%m-%Y"),
    "month first": ("%m/%d/%y", "%m/%d/%Y", "%m.%d.%y", "%m.%d.%Y", "%m-%d-%y", "%m-%d-%Y"),
    "day month year": ("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%d-%B-%Y", "%d/%b/%Y", "%d %b %y"),
    "month day, year": ("%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y"),
    "yearmonthday": ("%Y%m%d",),
    "year-month-day": ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
}
ADDED_MEASURES = frozenset({"count", "distinct", "sum"})
"""Measures that are zero in a period without rows, and too low in one that the rows cover in part."""
_FUNCTIONS = {
    "count": "count(*)",
    "distinct": "count(DISTINCT amount)",
    "sum": "sum(amount)",
    "maximum": "max(amount)",
}
MIN_COMPARED_PERIODS = 3
"""Periods from which the first and the last are compared with the others to tell if rows cover them."""
COMMON_TAIL, NORMAL_FACTOR = 0.95, 1.05
"""Share of periods whose uncovered beginning or end is normal, and the factor above which one is cut off: leap
years are longer than others."""


def select_by_period(source: str, aggregation: PeriodAggregation, covering: str | None = None) -> str:
    """Return a SELECT of one row for each period of each series of the source, in time order.

    Periods without rows count zero; values and means between others are interpolated. The first and the last
    period of counts and sums are left out if rows cover less of them than of others: half a month would look
    like a slump. `covering`: source of all rows, if `source` has those of some values only: these may be rare,
    and a month is not cut off because its last days have none.
    """
    time, name = quote_identifier(aggregation.time), quote_identifier(aggregation.name)
    key = f"series AS {quote_identifier(aggregation.key_name)}, " if aggregation.key_name else ""
    is_added = aggregation.measure in ADDED_MEASURES
    value = "COALESCE(measured, 0)" if is_added else "fill(measured) OVER (PARTITION BY series ORDER BY period)"
    kind = "TIMESTAMP" if aggregation.every in ("minute", "hour") else "DATE"
    return (
        f"{_cells(source, aggregation)}, {_periods(aggregation)}, {_bounds(aggregation, covering)}, "
        f"{_grid(aggregation)} "
        f"SELECT CAST(period AS {kind}) AS {time}, {key}{value} AS {name} FROM grid LEFT JOIN periods "
        "USING (series, period) ORDER BY series, period"
    )


def select_series(source: str, aggregation: PeriodAggregation, conditions: Sequence[RowCondition]) -> str:
    """Return the SELECT of the series that the rows make which meet some conditions."""
    if not conditions:
        return select_by_period(source, aggregation)
    # Rows before a date are no part of the series, and those of other values say what its last period covers.
    of_times = [condition for condition in conditions if condition.column in aggregation.time_columns]
    covering = select_rows(source, of_times) if of_times else source
    return select_by_period(select_rows(source, conditions), aggregation, covering)


def _cells(source: str, aggregation: PeriodAggregation) -> str:
    """SQL of the cells: series, moment and the number that is measured."""
    axis = aggregation.axis or TimeAxis(parts=[AxisPart(column=aggregation.time, unit="moment")])
    # One missing key would make the joined name of the series missing, and lose its rows.
    keys = [f"COALESCE(CAST({quote_identifier(key)} AS VARCHAR), '')" for key in aggregation.keys]
    series = f" || '{KEY_SEPARATOR}' || ".join(keys) or "''"
    if axis.period_columns:
        return _wide_cells(source, axis, series, aggregation.number)
    column = "1"
    if aggregation.column:
        column = number_sql(quote_identifier(aggregation.column), aggregation.number)
    return (
        f"WITH cells AS (SELECT {series} AS series, CAST({moment_sql(axis)} AS TIMESTAMP) AS moment, "
        f"{column} AS amount FROM ({source}) AS source_rows)"
    )


def _wide_cells(source: str, axis: TimeAxis, series: str, number: NumberText | None) -> str:
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in axis.period_columns)
    values = ", ".join(number_sql(quote_identifier(name), number) for name in axis.period_columns)
    others = [part for part in axis.parts if part.column]
    cells = "".join(f", {quote_identifier(part.column)} AS part_cell" for part in others)
    spelling = axis.parts[-1].spelling or ""
    if others:
        moment = _moment_of_rows_and_columns(others[0].unit, spelling)
    elif spelling == "day":
        moment = "CAST(regexp_replace(regexp_replace(period_name, '^[xX]', ''), '[._/]', '-', 'g') AS DATE)"
    else:
        moment = period_sql("period_name", PERIOD_NAMES_BY_NAME[spelling])
    return (
        f"WITH stacked AS (SELECT {series} AS series{cells}, unnest([{names}]) AS period_name, "
        f"unnest([{values}]) AS amount FROM ({source}) AS source_rows), "
        f"cells AS (SELECT series, CAST({moment} AS TIMESTAMP) AS moment, amount FROM stacked "
        "WHERE amount IS NOT NULL)"
    )


def _moment_of_rows_and_columns(unit: str, spelling: str) -> str:
    """SQL of the moment of a cell whose row tells one part of it and the name of whose column the other.

    `unit`: that of the column `part_cell`, a year, or a month or quarter beside columns of years (`spelling`).
    """
    if spelling == "year":
        year = f"year({period_sql('period_name', PERIOD_NAMES_BY_NAME['year'])})"
        return _moment_of_numbers({unit: "part_cell"}, year)
    year = "CAST(part_cell AS INTEGER)"
    if spelling == "month":
        return first_day_sql("month", year, month_number_sql("period_name"))
    return first_day_sql("quarter", year, "CAST(right(period_name, 1) AS INTEGER)")


def number_sql(cell: str, number: NumberText | None) -> str:
    """SQL of a number that may be stored as text; signs of currency and units are dropped."""
    if number is None:
        return cell
    digits = f"regexp_replace(CAST({cell} AS VARCHAR), '[^0-9eE.,+-]', '', 'g')"
    # Blanks and apostrophes between thousands are gone already.
    if number.group and number.group in ",.":
        digits = f"replace({digits}, '{number.group}', '')"
    plain = f"replace({digits}, ',', '.')" if number.decimal == "," else digits
    # Accounts write losses in parentheses.
    sign = f"CASE WHEN CAST({cell} AS VARCHAR) LIKE '(%)' THEN -1 ELSE 1 END"
    return f"({sign} * TRY_CAST({plain} AS DOUBLE))"


def moment_sql(axis: TimeAxis) -> str:
    """SQL of the moment that the columns of an axis tell."""
    parts: dict[str, str] = {part.unit: quote_identifier(part.column) for part in axis.parts}
    if year := parts.get("year_name") or parts.get("year"):
        return _moment_of_numbers(parts, year_sql(year) if "year_name" in parts else f"CAST({year} AS INTEGER)")
    first = axis.parts[0]
    cell = quote_identifier(first.column)
    day = {
        "moment": f"CAST({cell} AS TIMESTAMP)",
        "text": _text_sql(cell, first.spelling, axis.day_first),
        "day_number": f"(TIMESTAMP '1899-12-30' + to_days(CAST({cell} AS INTEGER)))",
        "decimal_year": _decimal_year_sql(cell, first.spelling),
    }.get(first.unit) or period_sql(cell, PERIOD_NAMES_BY_NAME[first.spelling or "year"])
    if hour := parts.get("hour"):
        return f"({day} + to_hours(CAST({hour} AS INTEGER)))"
    if hour := parts.get("hour_ending"):
        return f"({day} + to_hours(CAST({hour} AS INTEGER) - 1))"
    return day


def _moment_of_numbers(parts: dict[str, str], year: str) -> str:
    """SQL of the moment that a year and cells of its parts tell."""
    if week := parts.get("week"):
        return first_day_sql("week", year, f"CAST({week} AS INTEGER)")
    if quarter := parts.get("quarter"):
        return first_day_sql("quarter", year, f"CAST({quarter} AS INTEGER)")
    if name := parts.get("quarter_name"):
        return first_day_sql("quarter", year, quarter_sql(name))
    month = "1"
    if name := parts.get("month_name"):
        month = month_number_sql(name)
    elif number := parts.get("month"):
        month = f"CAST({number} AS INTEGER)"
    day = f"CAST({parts['day']} AS INTEGER)" if "day" in parts else "1"
    date = f"CAST(make_date({year}, {month}, {day}) AS TIMESTAMP)"
    if hour := parts.get("hour"):
        return f"({date} + to_hours(CAST({hour} AS INTEGER)))"
    if hour := parts.get("hour_ending"):
        return f"({date} + to_hours(CAST({hour} AS INTEGER) - 1))"
    return date


def _decimal_year_sql(cell: str, unit: str | None) -> str:
    """SQL of the period of a decimal year; a little is added, since 1949.083 is just below a twelfth."""
    year, part = f"CAST(floor({cell} + 0.002) AS INTEGER)", f"({cell} + 0.002 - floor({cell} + 0.002))"
    if unit in ("month", "quarter"):
        count = 12 if unit == "month" else 4
        number = f"(CAST(floor({part} * {count}) AS INTEGER) + 1)"
        return first_day_sql("month" if count == 12 else "quarter", year, number)
    if unit == "year":
        return first_day_sql("year", year, "1")
    return f"(CAST(make_date({year}, 1, 1) AS TIMESTAMP) + to_days(CAST(floor({part} * 365.25) AS INTEGER)))"


def _text_sql(cell: str, spelling: str | None, day_first: bool) -> str:
    """SQL of a moment from text in a spelling of dates, NULL for another text."""
    name = ("day first" if day_first else "month first") if spelling == "day and month" else spelling
    formats = [date + time for date in _DATE_FORMATS.get(name or "", ()) for time in _TIMES]
    formats_sql = ", ".join(f"'{format_}'" for format_ in formats)
    # The name of a weekday before a date is dropped: "Mon, 3 Jan 2022".
    text = f"regexp_replace(trim(CAST({cell} AS VARCHAR)), '^[A-Za-z]{{2,9}}\\.?,? +([0-9])', '\\1')"
    parsed = f"try_strptime({text}, [{formats_sql}])" if formats else "NULL"
    return f"COALESCE({parsed}, TRY_CAST(CAST({cell} AS VARCHAR) AS TIMESTAMP))"


def _bucket(moment: str, aggregation: PeriodAggregation) -> str:
    """SQL of the beginning of a moment's period; values keep their day of the week, and shifts their hour."""
    every, step = aggregation.every, aggregation.step
    if every == "business_day":
        return f"date_trunc('day', {moment})"
    is_within_day = step > 1 and every in ("minute", "hour")
    if aggregation.measure == "value" and (is_within_day or (every, step) == ("week", 1)):
        first = f"date_trunc('{'minute' if is_within_day else 'day'}', min(moment))"
        return (
            f"CAST(time_bucket({_interval(aggregation)}, {moment}, (SELECT {first} FROM cells)) AS TIMESTAMP)"
        )
    if step == 1:
        return f"CAST(date_trunc('{every}', {moment}) AS TIMESTAMP)"
    return f"CAST(time_bucket({_interval(aggregation)}, {moment}) AS TIMESTAMP)"


def _interval(aggregation: PeriodAggregation) -> str:
    unit, count = _INTERVALS.get(aggregation.every, (aggregation.every.upper(), 1))
    return f"INTERVAL {count * aggregation.step} {unit}"


def _periods(aggregation: PeriodAggregation) -> str:
    function = _FUNCTIONS.get(aggregation.measure, "avg(amount)")
    return (
        f"periods AS (SELECT series, {_bucket('moment', aggregation)} AS period, {function} AS measured, "
        "count(*) AS row_count, min(moment) AS first_moment, max(moment) AS last_moment FROM cells "
        "WHERE moment IS NOT NULL GROUP BY 1, 2)"
    )


def _bounds(aggregation: PeriodAggregation, covering: str | None) -> str:
    """SQL of the first and the last period of each series.

    Counts and sums have those of all series, and no period that is cut off.
    """
    if aggregation.measure not in ADDED_MEASURES:
        return (
            "bounds AS (SELECT series, min(period) AS first_period, max(period) AS last_period FROM periods "
            "WHERE measured IS NOT NULL GROUP BY series)"
        )
    interval = _interval(aggregation)
    # Where no row has a time of day, a row covers its day.
    has_days = "(SELECT min(moment = date_trunc('day', moment)) FROM cells WHERE moment IS NOT NULL)"
    end = f"(max(last_moment) + CASE WHEN {has_days} THEN INTERVAL 1 DAY ELSE INTERVAL 0 DAY END)"
    all_periods = "SELECT * FROM periods"
    if covering is not None:
        all_periods = (
            f"{_cells(covering, aggregation)} SELECT {_bucket('moment', aggregation)} AS period, "
            "min(moment) AS first_moment, max(moment) AS last_moment FROM cells "
            "WHERE moment IS NOT NULL GROUP BY 1"
        )
    return (
        f"all_periods AS ({all_periods}), "
        "covered AS (SELECT period, epoch(min(first_moment)) - epoch(period) AS head, "
        f"epoch(period + {interval}) - epoch{end} AS tail FROM all_periods GROUP BY period), "
        "edges AS (SELECT min(period) AS begin_period, max(period) AS end_period FROM covered), "
        f"normal AS (SELECT quantile_disc(head, {COMMON_TAIL}) FILTER (WHERE period > begin_period) AS head, "
        f"quantile_disc(tail, {COMMON_TAIL}) FILTER (WHERE period < end_period) AS tail, count(*) AS total "
        "FROM covered CROSS JOIN edges), "
        "whole AS (SELECT min(period) AS first_period, max(period) AS last_period FROM covered "
        f"CROSS JOIN edges CROSS JOIN normal WHERE total < {MIN_COMPARED_PERIODS} OR NOT ("
        f"(period = begin_period AND covered.head > {NORMAL_FACTOR} * normal.head) OR "
        f"(period = end_period AND covered.tail > {NORMAL_FACTOR} * normal.tail))), "
        "bounds AS (SELECT DISTINCT series, first_period, last_period FROM periods CROSS JOIN whole)"
    )


def _grid(aggregation: PeriodAggregation) -> str:
    if aggregation.every == "business_day":
        return (
            "grid AS (SELECT series, period FROM periods JOIN bounds USING (series) WHERE measured IS NOT NULL)"
        )
    steps = f"generate_series(first_period, last_period, {_interval(aggregation)})"
    return f"grid AS (SELECT series, unnest({steps}) AS period FROM bounds)"
