"""Forecasts of series: made of transactions by period, and found in rows of any layout."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import duckdb
import pytest
from tests.unit.agents.goals.forecasts import find_period_forecast

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.parser import parse_goal
from app.agents.goals.periods.time_axis import AxisPart, TimeAxis
from app.agents.goals.series.period_sql import select_by_period, select_series
from app.agents.goals.series.select_sql import PeriodAggregation, select_all
from app.agents.goals.tables.profiles import Column, TableProfile

TICKETS = TableProfile(
    "tickets",
    7_600,
    (
        Column("ticket_id", "integer", "id", 7_600, unique=True),
        Column("sold_at", "datetime", "datetime", 7_500, low="2023-01-01T10:00:00", high="2025-03-19T21:00:00"),
        Column("film", "text", "category", 3, top=("Dune", "Heat")),
        Column("price_eur", "number", "numeric", 3, low=8.5, high=12.0),
    ),
)
SENSOR = TableProfile(
    "sensor",
    800,
    (
        Column("day", "datetime", "datetime", 800, low="2023-01-01", high="2025-03-10"),
        Column("temperature", "number", "numeric", 300, low=-5.0, high=30.0),
    ),
)
REGIONS = TableProfile(
    "regions",
    96,
    (
        Column("region", "text", "category", 2, top=("Coast", "Lakes")),
        Column("month", "text", "category", 48, examples=("2020-Jan", "2020-Feb", "2020-Mar")),
        Column("nights", "integer", "numeric", 90, low=100, high=900),
    ),
)
YEARS = TableProfile(
    "emissions",
    3,
    (
        Column("country", "text", "id", 3, unique=True, examples=("A", "B", "C")),
        *(Column(f"X{year}", "number", "numeric", 3, low=1.0, high=2.0) for year in range(1990, 2022)),
    ),
)


@pytest.mark.parametrize(
    ("goal", "measure", "column", "every", "steps"),
    [
        ("How many tickets will we sell next month?", "count", None, "day", 42),
        ("number of tickets per day for the next 14 days", "count", None, "day", 14),
        ("Forecast revenue per week for the next 6 weeks", "sum", "price_eur", "week", 6),
        ("average price each month, next 3 months", "mean", "price_eur", "month", 3),
        ("tickets for Heat per week until the end of June", "count", None, "week", 16),
    ],
)
def test_transactions_are_counted_or_summed(
    goal: str, measure: str, column: str | None, every: str, steps: int
) -> None:
    forecast = find_period_forecast(parse_goal(goal), TICKETS)
    assert forecast
    aggregation = forecast.aggregation
    assert (aggregation.measure, aggregation.column, aggregation.every) == (measure, column, every)
    assert forecast.steps == steps
    assert [condition.values for condition in forecast.conditions] == ([["Heat"]] if "Heat" in goal else [])


def test_next_month_is_the_sum_over_the_calendar_month() -> None:
    forecast = find_period_forecast(parse_goal("How many tickets will we sell next month?"), TICKETS)
    assert forecast
    # The rows end on 19 March: the rest of March is forecast, and April is what is asked for.
    assert (forecast.aggregation.answer, forecast.aggregation.skipped_periods) == ("sum", 12)


@pytest.mark.parametrize(
    ("goal", "table", "keys", "steps"),
    [
        ("forecast the nights of each region for the next year", REGIONS, ["region"], 12),
        ("nights on the Coast in the coming 3 months", REGIONS, [], 3),
        ("emissions per country until 2025", YEARS, ["country"], 4),
        ("project the emissions ten years on", YEARS, ["country"], 10),
    ],
)
def test_series_are_found_in_any_layout(goal: str, table: TableProfile, keys: list[str], steps: int) -> None:
    forecast = find_period_forecast(parse_goal(goal), table)
    assert forecast
    assert (forecast.aggregation.measure, forecast.aggregation.keys) == ("value", keys)
    assert forecast.steps == steps


@pytest.mark.parametrize(
    ("goal", "table"),
    [
        ("Predict the price of a ticket", TICKETS),
        ("How many tickets were sold per month?", TableProfile("tickets", 7_600, TICKETS.columns[2:])),
        ("Forecast the temperature for the next 7 days", SENSOR),
        ("Forecast the price per film for the next 7 days", TICKETS),
        ("What was the revenue per month in 2025?", TICKETS),
    ],
)
def test_other_goals_are_not(goal: str, table: TableProfile) -> None:
    assert find_period_forecast(parse_goal(goal), table) is None


def test_the_series_has_every_complete_period_and_no_other() -> None:
    begin = datetime(2024, 1, 20)
    times = [begin + timedelta(days=i) for i in range(80) if not 32 <= i <= 70]  # no row in March
    with duckdb.connect() as database:
        database.execute("CREATE TABLE tickets (sold_at TIMESTAMP, price_eur DOUBLE)")
        database.executemany("INSERT INTO tickets VALUES (?, 2.0)", [(time,) for time in times])
        daily = PeriodAggregation(measure="count", time="sold_at", every="day")
        counts = [
            count for _, count in database.execute(select_by_period(select_all("tickets"), daily)).fetchall()
        ]
    assert counts == [0 if 32 <= i <= 70 else 1 for i in range(80)]


def test_half_a_month_at_either_end_is_left_out() -> None:
    days = [datetime(2024, 1, 20) + timedelta(days=i) for i in range(120)]  # to 18 May
    with duckdb.connect() as database:
        database.execute("CREATE TABLE tickets (sold_at TIMESTAMP)")
        database.executemany("INSERT INTO tickets VALUES (?)", [(day,) for day in days])
        monthly = PeriodAggregation(measure="count", time="sold_at", every="month")
        rows = database.execute(select_by_period(select_all("tickets"), monthly)).fetchall()
    assert {day.month: count for day, count in rows} == {2: 29, 3: 31, 4: 30}


AXES = [
    ("'1939 Jan', '1939 Feb', '1939 Apr'", "1939-01-01", "period", "year month name", "month"),
    ("'Jan-60', 'Feb-60', 'Apr-60'", "1960-01-01", "period", "month name year", "month"),
    ("'2004-Q1', '2004-Q2', '2004-Q4'", "2004-01-01", "period", "year-quarter", "quarter"),
    ("'2020W05', '2020W06', '2020W08'", "2020-01-27", "period", "year-week", "week"),
    ("'juin 2001', 'juil. 2001', 'sept. 2001'", "2001-06-01", "period", "month name year", "month"),
    ("45292, 45293, 45295", "2024-01-01", "day_number", None, "day"),
    ("1949.0, 1949.083333, 1949.25", "1949-01-01", "decimal_year", "month", "month"),
    ("'13/01/19', '14/01/19', '16/01/19'", "2019-01-13", "text", "day and month", "day"),
]


@pytest.mark.parametrize(("cells", "first", "unit", "spelling", "every"), AXES)
def test_times_are_read_in_any_spelling_and_gaps_are_interpolated(
    cells: str, first: str, unit: Any, spelling: str | None, every: Any
) -> None:
    axis = TimeAxis(parts=[AxisPart(column="t", unit=unit, spelling=spelling)], day_first=True)
    aggregation = PeriodAggregation(measure="value", column="v", time="t", every=every, axis=axis)
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE rows_of AS SELECT unnest([{cells}]) AS t, unnest([1.0, 2.0, 4.0]) AS v")
        rows = database.execute(select_by_period(select_all("rows_of"), aggregation)).fetchall()
    assert str(rows[0][0]) == first
    assert [value for _, value in rows] == pytest.approx([1.0, 2.0, 3.0, 4.0], abs=0.1)


def test_a_column_for_each_month_beside_years_is_one_series() -> None:
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    axis = TimeAxis(
        parts=[AxisPart(column="Year", unit="year"), AxisPart(column="", unit="month", spelling="month")],
        period_columns=months,
    )
    aggregation = PeriodAggregation(measure="value", time="period", every="month", axis=axis)
    columns = ", ".join(f"{number} + 12 * (Year - 2020) AS {name}" for number, name in enumerate(months))
    with duckdb.connect() as database:
        database.execute(
            f"CREATE TABLE years AS SELECT Year, {columns} FROM (SELECT unnest([2021, 2020]) AS Year)"
        )
        rows = database.execute(select_by_period(select_all("years"), aggregation)).fetchall()
    assert [value for _, value in rows] == list(range(24))
    assert str(rows[-1][0]) == "2021-12-01"


LOANS = TableProfile(
    "library_loans",
    355,
    (
        Column("loan_date", "datetime", "datetime", 91, low="2023-09-01", high="2023-11-30"),
        Column("genre", "text", "category", 4, top=("Crime", "Poetry", "Travel", "Science")),
        Column("pages", "integer", "numeric", 300, low=80, high=900),
        Column("weight_kg", "number", "numeric", 200, low=0.1, high=2.5),
        Column("slip", "integer", "numeric", 180, low=4001, high=4180),
    ),
)


@pytest.mark.parametrize(
    ("goal", "measure", "column", "every", "steps"),
    [
        ("How many loans will there be each week for the next five weeks?", "count", None, "week", 5),
        ("How many kilos of crime novels do we lend per week, next 3 weeks?", "sum", "weight_kg", "week", 3),
        ("loans in December", "count", None, "day", 31),
        ("loans from 1 to 7 December", "count", None, "day", 7),
        ("number of loans in the first quarter of 2024, monthly", "count", None, "month", 4),
    ],
)
def test_events_of_days_are_no_panel(
    goal: str, measure: str, column: str | None, every: str, steps: int
) -> None:
    """As many rows as days times genres by chance: 355 of 364."""
    forecast = find_period_forecast(parse_goal(goal), LOANS)
    assert forecast
    aggregation = forecast.aggregation
    assert (aggregation.measure, aggregation.column, aggregation.every) == (measure, column, every)
    assert (aggregation.keys, forecast.steps) == ([], steps)


def test_a_past_period_is_no_forecast() -> None:
    assert find_period_forecast(parse_goal("How many loans in October 2023?"), LOANS) is None


def test_the_last_period_of_a_filtered_series_is_judged_by_all_rows() -> None:
    aggregation = PeriodAggregation(measure="count", time="day", every="month")
    rare = RowCondition(column="kind", values=["rare"])
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE visits AS SELECT CAST(day AS TIMESTAMP) AS day, "
            "CASE WHEN day(day) = 3 THEN 'rare' ELSE 'usual' END AS kind "
            "FROM range(DATE '2024-01-01', DATE '2024-07-01', INTERVAL 1 DAY) AS days(day)"
        )
        select = select_series(select_all("visits"), aggregation, [rare])
        counts = database.execute(select).df().iloc[:, -1]
    assert counts.tolist() == [1] * 6


ORDERS = TableProfile(
    "orders",
    4_000,
    (
        Column("order_id", "integer", "id", 4_000, unique=True, low=0, high=3_999),
        Column("placed", "datetime", "datetime", 3_990, low="2023-01-01T10:00:00", high="2025-03-19T21:00:00"),
        Column("customer", "integer", "numeric", 700, low=1, high=700),
        Column("items", "integer", "numeric", 5, low=1, high=5),
        Column("payment", "text", "category", 2, top=("card", "cash"), values=("card", "cash")),
    ),
)
SHOWS = TableProfile(
    "theatre",
    360,
    (
        Column("week_starting", "datetime", "datetime", 120, low="2023-01-02", high="2025-04-14"),
        Column("show", "text", "category", 3, top=("Hamlet", "Cats", "Evita")),
        Column("tickets_sold", "integer", "numeric", 200, low=150, high=500),
        Column("avg_price", "number", "numeric", 200, low=18.0, high=34.0),
    ),
)
QUARTERS = TableProfile(
    "calls",
    3_840,
    (
        Column("start", "datetime", "datetime", 3_840, low="2024-02-01T00:00:00", high="2024-03-11T23:45:00"),
        Column("calls", "integer", "numeric", 27, low=0, high=26),
    ),
)


@pytest.mark.parametrize(
    ("goal", "table", "measure", "column"),
    [
        ("number of active customers per month, next 3 months", ORDERS, "distinct", "customer"),
        ("number of orders per month, next 3 months", ORDERS, "count", None),
        ("how many card payments per day next week", ORDERS, "count", None),
        ("tickets we will sell next week", SHOWS, "value", "tickets_sold"),
        ("forecast Hamlet ticket sales 4 weeks ahead", SHOWS, "value", "tickets_sold"),
        ("revenue per week for 8 weeks", SHOWS, "value", "revenue (tickets_sold * avg_price)"),
        ("peak calls per day for the coming week", QUARTERS, "maximum", "calls"),
        ("calls per day for the coming week", QUARTERS, "sum", "calls"),
    ],
)
def test_what_a_goal_counts_or_adds_up(
    goal: str, table: TableProfile, measure: str, column: str | None
) -> None:
    forecast = find_period_forecast(parse_goal(goal), table, is_sure=True)
    assert forecast is not None
    assert (forecast.aggregation.measure, forecast.aggregation.column) == (measure, column)
    assert forecast.aggregation.answer == "each_period"


def test_the_total_of_a_year_is_one_number_of_its_months() -> None:
    months = TableProfile(
        "shop_months",
        78,
        (
            Column("month", "datetime", "datetime", 78, low="2018-01-01", high="2024-06-01"),
            Column("revenue_eur", "number", "numeric", 78, low=40_000.0, high=130_000.0),
        ),
    )
    forecast = find_period_forecast(parse_goal("total revenue of next year"), months, is_sure=True)
    assert forecast is not None
    assert forecast.aggregation.answer == "sum"
    # Each month is a series as it stands, which needs no aggregation.
    assert find_period_forecast(parse_goal("revenue of the next 12 months"), months, is_sure=True) is None


def test_different_values_and_maxima_of_periods() -> None:
    values = "(DATE '2024-01-01', 'a', 5.0), ('2024-01-01', 'a', 9.0), ('2024-01-03', 'b', 2.0)"
    rows = f"SELECT * FROM (VALUES {values}) t(d, c, x)"
    distinct = PeriodAggregation(measure="distinct", column="c", time="d", every="day")
    maximum = PeriodAggregation(measure="maximum", column="x", time="d", every="day")
    assert (distinct.name, maximum.name) == ("number of different c", "maximum x")
    assert "different `c`" in distinct.description
    assert [row[1] for row in duckdb.sql(select_by_period(rows, distinct)).fetchall()] == [1, 0, 1]
    # A day without rows has no maximum: it is interpolated.
    assert [row[1] for row in duckdb.sql(select_by_period(rows, maximum)).fetchall()] == [9, 5.5, 2]


def test_a_mean_price_is_named_by_its_noun() -> None:
    goal = parse_goal("average price of Cats over the next 5 weeks")
    forecast = find_period_forecast(goal, SHOWS, is_sure=True)
    assert forecast is not None
    assert (forecast.aggregation.measure, forecast.aggregation.column) == ("value", "avg_price")


@pytest.mark.parametrize(
    ("goal", "high", "every", "steps"),
    [
        ("orders forecast", "2024-06-20T21:00:00", "week", 13),
        ("orders forecast", "2026-06-20T21:00:00", "month", 12),
        ("forecast orders by day", "2024-06-20T21:00:00", "day", 28),
    ],
)
def test_a_forecast_of_transactions_without_a_horizon_has_the_usual_one(
    goal: str, high: str, every: str, steps: int
) -> None:
    placed = Column("placed", "datetime", "datetime", 3_990, low="2023-01-01T10:00:00", high=high)
    orders = replace(ORDERS, columns=(ORDERS.columns[0], placed, *ORDERS.columns[2:]))
    forecast = find_period_forecast(parse_goal(goal), orders, is_sure=True)
    assert forecast is not None
    assert (forecast.aggregation.every, forecast.steps, forecast.is_default_horizon) == (every, steps, True)


@pytest.mark.parametrize(
    ("goal", "answer"),
    [
        ("staff of the next month", "each_period"),
        ("output of the next month", "sum"),
        ("how much output will there be in July", "sum"),
        ("output of each day of the next month", "each_period"),
        ("output over the next 20 days", "each_period"),
    ],
)
def test_a_calendar_period_of_what_adds_up_is_one_number(goal: str, answer: str) -> None:
    days = TableProfile(
        "plant",
        800,
        (
            Column("day", "datetime", "datetime", 800, low="2023-01-01", high="2025-03-10"),
            Column("output", "number", "numeric", 300, low=5.0, high=30.0),
            Column("staff", "integer", "numeric", 30, low=5, high=30),
            Column("gaps", "text", "category", 2, top=("a", "b")),
        ),
    )
    forecast = find_period_forecast(parse_goal(goal), replace(days, rows=799), is_sure=True)
    assert forecast is not None
    assert forecast.aggregation.answer == answer


READINGS = TableProfile(
    "press_readings",
    3_000,
    (
        Column("read_at", "datetime", "datetime", 3_000, low="2024-01-01T00:00:00", high="2024-01-21T19:50:00"),
        Column("machine", "text", "category", 4, top=("P1", "P2", "P3", "P4")),
        Column("pressure_bar", "number", "numeric", 200, low=4.0, high=8.0),
    ),
)


@pytest.mark.parametrize(
    ("goal", "steps"), [("forecast pressure per machine", 24), ("pressure per machine, next 3 hours", 3)]
)
def test_things_that_are_read_in_turn_make_a_series_each(goal: str, steps: int) -> None:
    forecast = find_period_forecast(parse_goal(goal), READINGS)
    assert forecast is not None
    aggregation = forecast.aggregation
    assert (aggregation.measure, aggregation.every, aggregation.keys) == ("mean", "hour", ["machine"])
    assert forecast.steps == steps


SHIPMENTS = TableProfile(
    "shipments",
    4_000,
    (
        Column("shipment_id", "integer", "id", 4_000, unique=True, low=0, high=3_999),
        Column("ordered", "datetime", "datetime", 3_900, low="2023-01-01T10:00:00", high="2025-03-19T21:00:00"),
        Column(
            "shipped_at", "datetime", "datetime", 3_990, low="2023-01-01T10:00:00", high="2025-03-19T21:00:00"
        ),
        Column("carrier", "text", "category", 3, top=("DPD", "UPS", "GLS")),
        Column("product", "text", "category", 3, top=("lamp", "desk", "chair")),
        Column("shipping_cost", "number", "numeric", 900, low=2.0, high=30.0),
        Column("days_to_ship", "integer", "numeric", 9, low=1, high=9),
    ),
)


@pytest.mark.parametrize(
    ("goal", "measure", "column", "keys"),
    [
        ("Which carrier will ship most next month?", "count", None, ["carrier"]),
        ("Which carrier will have the highest shipping costs next month?", "sum", "shipping_cost", ["carrier"]),
        ("parcels shipped per day, next 2 weeks", "count", None, []),
        ("daily shipments over the next 3 weeks", "count", None, []),
        ("shipping costs per week, next 6 weeks", "sum", "shipping_cost", []),
    ],
)
def test_the_measure_of_events(goal: str, measure: str, column: str | None, keys: list[str]) -> None:
    forecast = find_period_forecast(parse_goal(goal), SHIPMENTS)
    assert forecast is not None
    aggregation = forecast.aggregation
    assert (aggregation.measure, aggregation.column, aggregation.keys) == (measure, column, keys)


def test_things_of_a_value_that_are_sold_are_counted_in_pieces() -> None:
    orders = replace(
        SHIPMENTS, columns=(*SHIPMENTS.columns, Column("qty", "integer", "numeric", 5, low=1, high=5))
    )
    forecast = find_period_forecast(parse_goal("lamps sold per week, next 6 weeks"), orders)
    assert forecast is not None
    assert (forecast.aggregation.measure, forecast.aggregation.column) == ("sum", "qty")


def test_rows_within_bounds_are_counted_by_period() -> None:
    goal = parse_goal("parcels with shipping costs above 20 per week, next 6 weeks")
    forecast = find_period_forecast(goal, SHIPMENTS)
    assert forecast is not None
    assert forecast.aggregation.measure == "count"
    assert [(c.column, c.operator) for c in forecast.conditions] == [("shipping_cost", "above")]


def test_values_of_a_shift_keep_its_hour() -> None:
    aggregation = PeriodAggregation(measure="value", column="v", time="t", every="hour", step=8)
    rows = "SELECT unnest([TIMESTAMP '2024-01-01 06:00', '2024-01-01 14:00']) AS t, unnest([1.0, 2.0]) AS v"
    selected = duckdb.sql(select_by_period(rows, aggregation)).fetchall()
    assert [at.hour for at, _ in selected] == [6, 14]


@pytest.mark.parametrize(
    ("goal", "assumed", "selected"),
    [
        ("shipments per week over the next 6 weeks with shipping cost of 12", ("shipping_cost",), []),
        ("shipments per week over the next 6 weeks if the carrier is UPS", ("carrier",), []),
    ],
)
def test_what_a_goal_assumes_selects_no_rows(goal: str, assumed: tuple[str, ...], selected: list[str]) -> None:
    forecast = find_period_forecast(parse_goal(goal), SHIPMENTS)
    assert forecast is not None
    assert forecast.aggregation.measure == "count"
    assert forecast.assumed == assumed
    assert [condition.column for condition in forecast.conditions] == selected
