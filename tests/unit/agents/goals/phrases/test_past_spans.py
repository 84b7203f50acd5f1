"""Spans of the past in goals."""

import pytest

from app.agents.goals.phrases.past_spans import asks_about_past_span
from app.agents.goals.phrases.thresholds import parse_threshold


@pytest.mark.parametrize(
    "text",
    [
        "tickets created per week over the last 3 months",
        "revenue per week in the last 2 months",
        "daily revenue over the past 4 weeks",
        "turnover rate last 12 months",
        "faults by code last quarter",
    ],
)
def test_a_span_of_the_past_is_one_of_stored_rows(text: str) -> None:
    assert asks_about_past_span(text)
    assert parse_threshold(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "forecast parcels per week for the next month from the last 3 months",
        "will sales next week be as high as last week",
        "predict churn by what customers did in the past 30 days",
        "orders for the next 3 months",
    ],
)
def test_a_goal_that_looks_ahead_may_name_the_past(text: str) -> None:
    assert not asks_about_past_span(text)


def test_a_bound_may_be_said_by_past() -> None:
    threshold = parse_threshold("flights that go past 30 minutes")
    assert threshold is not None
    assert (threshold.above, threshold.value) == (True, 30)
