"""The word `returns` in goals on tables with and without prices."""

import pytest

from app.agents.goals.market_returns import settle_returns
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile

DATE = Column("day", "datetime", "datetime", 400, low="2023-01-01", high="2024-02-04")
CLOSES = TableProfile("closes", 400, (DATE, Column("close", "number", "numeric", 390, low=3, high=9)))
PARCELS = TableProfile("parcels", 400, (DATE, Column("returned", "integer", "numeric", 2, low=0, high=1)))
ORDERS = TableProfile("orders", 400, (*PARCELS.columns, Column("price", "number", "numeric", 90)))


@pytest.mark.parametrize(
    ("goal", "table", "outlook"),
    [
        ("Forecast returns for the next 4 weeks", CLOSES, "change"),
        ("Forecast returns for the next 4 weeks", PARCELS, None),
        ("Forecast returns for the next 4 weeks", ORDERS, None),
        ("Forecast the change of returns in 4 weeks", ORDERS, "change"),
        ("Predict daily returns", PARCELS, "change"),
    ],
)
def test_returns_are_changes_of_prices_only(goal: str, table: TableProfile, outlook: str | None) -> None:
    assert settle_returns(parse_goal(goal), [table]).outlook == outlook
