"""SELECT statements that produce the plan's table.

Names are quoted here, and the SELECT is parsed and admitted again where it runs (`computations.query`).
"""
# ruff: noqa: S608 - the text is made of quoted names and numbers only

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

Period = Literal["day", "week", "month", "quarter", "year"]
PERIODS: tuple[Period, ...] = get_args(Period)


class PeriodAggregation(BaseModel):
    """A series made of transactions: the rows of each period counted, or a column summed or averaged."""

    model_config = ConfigDict(extra="forbid")

    measure: Literal["count", "sum", "mean"]
    column: str | None = None
    """None for a count of rows."""
    time: str
    every: Period

    @property
    def name(self) -> str:
        """Name of the measured column of the series."""
        return f"{self.column}_{self.measure}" if self.column else "rows_count"

    @property
    def description(self) -> str:
        rows = {"count": "the number of rows", "sum": f"the sum of `{self.column}`"}
        return f"{rows.get(self.measure, f'the mean of `{self.column}`')} in each {self.every}"


class Cut(BaseModel):
    """A threshold that turns a number into yes or no: above (or below) `value`."""

    above: bool
    value: float


def quote_identifier(name: str) -> str:
    """Quote a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def cut_name(target: str, cut: Cut) -> str:
    return f"{target}_{'above' if cut.above else 'below'}_{cut.value:g}"


def select_with_cut(source: str, target: str, cut: Cut) -> str:
    """Return a SELECT over the source with the target replaced by yes or no, for above or below the value."""
    sign = ">" if cut.above else "<"
    column = quote_identifier(target)
    expression = f"CASE WHEN {column} {sign} {cut.value:g} THEN 'yes' ELSE 'no' END"
    return (
        f"SELECT * EXCLUDE ({column}), {expression} AS {quote_identifier(cut_name(target, cut))} "
        f"FROM ({source}) AS whole WHERE {column} IS NOT NULL"
    )


_INTERVALS: dict[Period, str] = {
    "day": "INTERVAL 1 DAY",
    "week": "INTERVAL 7 DAY",
    "month": "INTERVAL 1 MONTH",
    "quarter": "INTERVAL 3 MONTH",
    "year": "INTERVAL 1 YEAR",
}


def select_by_period(source: str, aggregation: PeriodAggregation) -> str:
    """Return a SELECT of one row for each complete period of the source, in time order.

    Periods without rows count zero; a mean is missing there. The first and the last period are left out unless
    the rows begin and end with them: half a month would look like a slump.
    """
    every, interval = aggregation.every, _INTERVALS[aggregation.every]
    time = f"CAST({quote_identifier(aggregation.time)} AS TIMESTAMP)"
    column = quote_identifier(aggregation.column) if aggregation.column else "*"
    function = {"count": "count", "sum": "sum", "mean": "avg"}[aggregation.measure]
    measured = "measured" if aggregation.measure == "mean" else "COALESCE(measured, 0)"
    return (
        f"SELECT CAST(period AS DATE) AS {quote_identifier(aggregation.time)}, "
        f"{measured} AS {quote_identifier(aggregation.name)} FROM ("
        f"SELECT unnest(generate_series(first_period, last_period, {interval})) AS period FROM ("
        f"SELECT date_trunc('{every}', min({time}) - INTERVAL 1 DAY) + {interval} AS first_period, "
        f"date_trunc('{every}', max({time}) + INTERVAL 1 DAY) - {interval} AS last_period "
        f"FROM ({source}) AS bounds_of)) AS periods LEFT JOIN ("
        f"SELECT date_trunc('{every}', {time}) AS measured_period, {function}({column}) AS measured "
        f"FROM ({source}) AS transactions GROUP BY 1) AS sums ON period = measured_period ORDER BY period"
    )


def select_all(table: str) -> str:
    return f"SELECT * FROM {quote_identifier(table)}"
