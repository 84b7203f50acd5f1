"""Times of two tables: a figure is dated by its own rows, not by those that they belong to."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question

IDS = tuple(range(1, 41))
CUSTOMERS = TableProfile(
    "customers",
    40,
    (
        Column("customer_id", "integer", "id", 40, unique=True, low=1, high=40, values=IDS),
        Column("segment", "text", "category", 2, top=("Retail", "Trade"), values=("Retail", "Trade")),
        Column("joined", "datetime", "datetime", 38, low="2023-01-01", high="2024-11-30"),
    ),
)
ORDERS = TableProfile(
    "orders",
    400,
    (
        Column("order_no", "integer", "id", 400, unique=True, low=1, high=400),
        Column("customer_id", "integer", "id", 40, low=1, high=40, values=IDS),
        Column("order_date", "datetime", "datetime", 210, low="2024-06-01", high="2026-01-21"),
        Column("qty", "integer", "numeric", 8, low=1, high=8),
        Column("unit_price", "number", "numeric", 4, low=2.2, high=89.9),
    ),
)


@pytest.mark.parametrize(
    ("question", "column", "other"),
    [
        ("monthly revenue", "order_date", "joined"),
        ("revenue by year and segment", "order_date", "joined"),
        ("total revenue last month", "order_date", "joined"),
        ("customers joined per month", "joined", "order_date"),
    ],
)
def test_a_figure_has_the_times_of_its_own_table(question: str, column: str, other: str) -> None:
    parsed = parse_question(question, (CUSTOMERS, ORDERS))
    assert isinstance(parsed, ParsedQuestion), parsed
    plan = parsed.plan.model_dump_json()
    assert f'"{column}"' in plan
    assert f'"{other}"' not in plan


TRIPS = TableProfile(
    "taxi_trips",
    500,
    (
        Column(
            "pickup_datetime",
            "datetime",
            "datetime",
            500,
            low="2024-01-01T00:00:00",
            high="2024-01-21T19:00:00",
        ),
        Column(
            "dropoff_datetime",
            "datetime",
            "datetime",
            500,
            low="2024-01-01T00:45:00",
            high="2024-01-21T19:34:00",
        ),
        Column("trip_distance", "number", "numeric", 300, low=0.1, high=5.5),
    ),
)


@pytest.mark.parametrize("question", ["how many trips per day", "trips per day", "number of trips each day"])
def test_rows_of_a_day_are_counted_and_not_the_days_that_they_take(question: str) -> None:
    parsed = parse_question(question, [TRIPS])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert parsed.description == "the number of rows for each `day`, from `taxi_trips`"
