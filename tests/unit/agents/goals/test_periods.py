"""Forecasts of transactions by period."""

from datetime import datetime, timedelta

import duckdb
import pytest

from app.agents.goals.parser import parse_goal
from app.agents.goals.periods import find_period_forecast
from app.agents.goals.select_sql import PeriodAggregation, select_all, select_by_period
from app.agents.goals.tables import Column, TableProfile

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


@pytest.mark.parametrize(
    ("goal", "measure", "column", "every", "steps"),
    [
        ("How many tickets will we sell next month?", "count", None, "month", 1),
        ("number of tickets per day for the next 14 days", "count", None, "day", 14),
        ("Forecast revenue per week for the next 6 weeks", "sum", "price_eur", "week", 6),
        ("average price each month, next 3 months", "mean", "price_eur", "month", 3),
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


@pytest.mark.parametrize(
    ("goal", "table"),
    [
        ("Predict the price of a ticket", TICKETS),
        ("How many tickets were sold per month?", TableProfile("tickets", 7_600, TICKETS.columns[2:])),
        ("Forecast the temperature for the next 7 days", SENSOR),
        ("Forecast the price per film for the next 7 days", TICKETS),
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
        for measure, column, expected in (
            ("count", None, {2: 20, 3: 1}),
            ("sum", "price_eur", {2: 40.0, 3: 2.0}),
        ):
            aggregation = PeriodAggregation(measure=measure, column=column, time="sold_at", every="month")  # type: ignore[arg-type]
            rows = database.execute(select_by_period(select_all("tickets"), aggregation)).fetchall()
            assert {day.month: value for day, value in rows} == expected
        daily = PeriodAggregation(measure="count", time="sold_at", every="day")
        counts = [
            count for _, count in database.execute(select_by_period(select_all("tickets"), daily)).fetchall()
        ]
    assert counts == [0 if 32 <= i <= 70 else 1 for i in range(80)]
