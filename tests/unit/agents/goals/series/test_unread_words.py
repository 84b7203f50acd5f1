"""Words of a goal that have to do with nothing its forecast is made of."""

from typing import Any

import pytest
from tests.unit.agents.goals.forecasts import FIND_ROWS, find_period_forecast

from app.agents.goals.parser import parse_goal
from app.agents.goals.series.period_forecast_search import find_period_forecasts
from app.agents.goals.series.unread_words import find_unread_words
from app.agents.goals.tables.profiles import make_table_profile

WALKS: dict[str, Any] = {
    "table": "dog_walks",
    "rows": 700,
    "columns": [
        {"name": "walk_id", "type": "integer", "hint": "id", "distinct": 700, "unique": True},
        {
            "name": "walked_on",
            "type": "datetime",
            "hint": "datetime",
            "distinct": 600,
            "min": "2023-01-02",
            "max": "2024-08-30",
        },
        {
            "name": "breed",
            "type": "text",
            "hint": "category",
            "distinct": 3,
            "top": [{"value": value} for value in ("labrador", "poodle", "terrier")],
        },
        {"name": "minutes", "type": "integer", "hint": "numeric", "distinct": 70, "min": 20, "max": 90},
        {"name": "fee_eur", "type": "number", "hint": "numeric", "distinct": 500, "min": 8.0, "max": 30.0},
    ],
}
TABLE = make_table_profile(WALKS)


def _unread(text: str) -> list[str]:
    goal = parse_goal(text)
    forecast = find_period_forecast(goal, TABLE)
    assert forecast is not None
    return find_unread_words(goal, forecast)


@pytest.mark.parametrize(
    "goal",
    [
        "How many walks per week over the next 8 weeks?",
        "walks booked per week over the next 8 weeks",
        "monthly takings from poodles for the next quarter",
        "poodle walks each month, next 6 months",
        "how much will we take in per week over the next 2 months",
        "forecast walking minutes per day, two weeks",
        "workload per week, next 6 weeks",
    ],
)
def test_a_forecast_accounts_for_its_rows_measure_and_values(goal: str) -> None:
    assert _unread(goal) == []


@pytest.mark.parametrize(
    ("goal", "unread"),
    [
        ("puppy walks per week, next 3 months", ["puppy"]),
        ("How many leads will we lose per month over the next 3 months?", ["leads"]),
        ("treats we need each month for the coming 4 months", ["treats"]),
    ],
)
def test_a_thing_that_the_table_does_not_hold_is_unread(goal: str, unread: list[str]) -> None:
    assert _unread(goal) == unread


def test_every_measure_of_the_same_periods_is_offered() -> None:
    forecasts = find_period_forecasts(parse_goal("treats each month for the coming 4 months"), TABLE, FIND_ROWS)
    assert [forecast.aggregation.description for forecast in forecasts] == [
        "the number of rows in each month",
        "the sum of `minutes` in each month",
        "the sum of `fee_eur` in each month",
    ]
    assert {forecast.steps for forecast in forecasts} == {4}
