"""Horizons of goals in periods of a series."""

from datetime import datetime

import duckdb
import pytest

from app.agents.goals.periods.forecast_horizon import SeriesEnd, find_horizon, period_start
from app.agents.goals.periods.time_axis import Period

DAY, MONTH = SeriesEnd(datetime(2024, 2, 24), "day"), SeriesEnd(datetime(2023, 12, 1), "month")
QUARTER, YEAR = SeriesEnd(datetime(2023, 10, 1), "quarter"), SeriesEnd(datetime(2021, 1, 1), "year")
WEEK, HOUR = SeriesEnd(datetime(2024, 2, 19), "week"), SeriesEnd(datetime(2023, 5, 15, 23), "hour")
TRADING = SeriesEnd(datetime(2023, 10, 3), "business_day")
MINUTES = SeriesEnd(datetime(2024, 2, 7), "minute", 10)


@pytest.mark.parametrize(
    ("goal", "end", "steps"),
    [
        ("for the coming fortnight", DAY, 14),
        ("over the next half year", MONTH, 6),
        ("until the end of the quarter", DAY, 36),
        ("for the rest of the year", DAY, 311),
        ("until Christmas", DAY, 304),
        ("a year out", MONTH, 12),
        ("next two years, quarter by quarter", QUARTER, 8),
        ("where will it stand at the end of 2024", QUARTER, 4),
        ("in 2030", YEAR, 9),
        ("the year after the last", YEAR, 1),
        ("per week, next month", WEEK, 4),
        ("tomorrow, hour by hour", HOUR, 24),
        ("hourly for 48 h", HOUR, 48),
        ("over 12hrs", HOUR, 12),
        ("for 2 wks", DAY, 14),
        ("the next 6 mths", MONTH, 6),
        ("in five trading days", TRADING, 5),
        ("in an hour", MINUTES, 6),
        ("12-month forecast", MONTH, 12),
        ("on each of the next 14 evenings", DAY, 14),
        ("terrace - forecast May", MONTH, 5),
        ("the next 9 shifts", SeriesEnd(datetime(2024, 2, 7, 6), "hour", 8), 9),
        ("the coming season", MONTH, 3),
        ("the coming season", YEAR, 1),
    ],
)
def test_horizons_are_counted_in_periods(goal: str, end: SeriesEnd, steps: int) -> None:
    horizon = find_horizon(goal, end)
    assert horizon
    assert horizon.steps == steps


def test_a_calendar_month_is_what_is_asked_for() -> None:
    horizon = find_horizon("sales in May", MONTH)
    assert horizon
    assert (horizon.first, horizon.steps, horizon.is_point) == (4, 5, True)
    next_month = find_horizon("next month", DAY)
    assert next_month
    assert (next_month.first, next_month.steps) == (5, 36)  # 25 to 29 February, then March


@pytest.mark.parametrize(
    ("goal", "first", "steps"),
    [("sales over Christmas", 303, 306), ("sales at Christmas", 303, 306), ("sales over New Year", 310, 312)],
)
def test_holidays_are_what_is_asked_for(goal: str, first: int, steps: int) -> None:
    horizon = find_horizon(goal, DAY)
    assert horizon
    assert (horizon.first, horizon.steps) == (first, steps)


@pytest.mark.parametrize(
    ("every", "step", "start"),
    [
        ("minute", 30, datetime(2024, 2, 7, 21, 30)),
        ("hour", 12, datetime(2024, 2, 7, 12)),
        ("week", 2, datetime(2024, 1, 29)),
        ("quarter", 2, datetime(2024, 1, 1)),
        ("year", 10, datetime(2020, 1, 1)),
    ],
)
def test_longer_periods_begin_where_duckdb_begins_them(every: Period, step: int, start: datetime) -> None:
    at = datetime(2024, 2, 7, 21, 47)
    interval = {"quarter": "6 MONTH", "week": "14 DAY"}.get(every, f"{step} {every}")
    bucket = duckdb.sql(f"SELECT time_bucket(INTERVAL {interval}, TIMESTAMP '{at}')").fetchall()[0][0]
    assert period_start(at, every, step) == start
    assert str(bucket)[:10] == str(start)[:10]


@pytest.mark.parametrize("goal", ["sales in 2023", "how many were there", "since 2020"])
def test_the_past_is_no_horizon(goal: str) -> None:
    assert find_horizon(goal, MONTH) is None
