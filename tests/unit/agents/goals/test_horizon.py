"""Horizons of goals in rows of a table."""

from datetime import date

import pytest

from app.agents.goals.horizon import count_rows_ahead
from app.agents.goals.parser import parse_goal
from app.agents.goals.tables.profiles import Column, TableProfile


def _table(rows: int, last: date) -> TableProfile:
    traded_on = Column("traded_on", "datetime", "datetime", rows, low="2023-01-02", high=last.isoformat())
    return TableProfile("prices", rows, (traded_on, Column("close", "number", "numeric", rows)))


TRADING_DAYS = _table(251, date(2023, 12, 18))
"""Every weekday from a Monday on, for fifty weeks."""
ALL_DAYS = _table(351, date(2023, 12, 18))


@pytest.mark.parametrize(
    ("goal", "table", "rows"),
    [
        ("Predict the volatility over the next 10 days", TRADING_DAYS, 10),
        ("Predict the close 5 days ahead", TRADING_DAYS, 5),
        ("Predict the close 2 weeks ahead", TRADING_DAYS, 10),
        ("Predict the close 10 days ahead", ALL_DAYS, 10),
        ("Predict the close 2 weeks ahead", ALL_DAYS, 14),
    ],
)
def test_days_of_prices_are_trading_days(goal: str, table: TableProfile, rows: int) -> None:
    lookahead = parse_goal(goal).lookahead
    assert lookahead
    assert count_rows_ahead(lookahead, table, "traded_on") == rows
