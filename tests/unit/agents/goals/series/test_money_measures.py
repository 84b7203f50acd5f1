"""Money and substances are no counts of rows."""

import pytest
from tests.unit.agents.goals.forecasts import find_period_forecast

from app.agents.goals.parser import parse_goal
from app.agents.goals.periods.phrases import is_total
from app.agents.goals.tables.profiles import Column, TableProfile

SOLD_AT = Column("sold_at", "datetime", "datetime", 580, low="2025-01-01", high="2025-06-30")
COFFEES = TableProfile(
    "coffee_sales",
    6_000,
    (
        SOLD_AT,
        Column("item", "text", "category", 3, top=("latte", "muffin"), values=("latte", "muffin")),
        Column("qty", "integer", "numeric", 3, low=1, high=3),
        Column("unit_px", "number", "numeric", 38, low=2.2, high=5.9),
    ),
)
PARCELS = TableProfile(
    "parcels",
    6_000,
    (
        Column("parcel_no", "text", "id", 6_000, unique=True),
        Column("promised_on", "datetime", "datetime", 240, low="2025-01-03", high="2025-09-04"),
        Column("shipped_on", "datetime", "datetime", 240, low="2025-01-01", high="2025-08-31"),
        Column("delivered_on", "datetime", "datetime", 240, low="2025-01-02", high="2025-09-07"),
        Column("weight_kg", "number", "numeric", 900, low=0.2, high=30.0),
    ),
)
MILKINGS = TableProfile(
    "dairy_milkings",
    6_000,
    (
        Column("milked_on", "datetime", "datetime", 365, low="2024-03-01", high="2025-02-28"),
        Column("cow", "text", "category", 60, top=("DE1", "DE2"), values=("DE1", "DE2")),
        Column("volume_l", "number", "numeric", 200, low=4.0, high=24.0),
    ),
)


def test_revenue_is_quantity_times_price_and_no_count_of_sales() -> None:
    forecast = find_period_forecast(parse_goal("forecast daily revenue for the next two weeks"), COFFEES)
    assert forecast is not None
    assert forecast.aggregation.name == "total revenue (qty * unit_px)"


def test_parcels_are_counted_by_the_day_on_which_they_are_sent() -> None:
    forecast = find_period_forecast(parse_goal("how many parcels next week"), PARCELS)
    assert forecast is not None
    assert (forecast.aggregation.measure, forecast.aggregation.time_columns) == ("count", ["shipped_on"])


def test_milkings_are_counted_and_milk_is_not() -> None:
    milk = find_period_forecast(parse_goal("forecast milk for the next 14 days"), MILKINGS)
    assert milk is None or milk.aggregation.measure != "count"
    milkings = find_period_forecast(parse_goal("forecast milkings for the next 14 days"), MILKINGS)
    assert milkings is not None
    assert milkings.aggregation.measure == "count"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("total_usd", True),
        ("paid_usd", True),
        ("amount_paid", True),
        ("ins_paid_amt", False),
        ("fee_usd", False),
    ],
)
def test_a_payment_is_the_total_of_a_row_unless_its_name_says_who_paid(name: str, expected: bool) -> None:
    assert is_total(Column(name, "number", "numeric", 400, low=0.0, high=900.0)) is expected
