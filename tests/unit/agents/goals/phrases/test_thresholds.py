"""Thresholds of goals, and amounts in the units of columns."""

import pytest

from app.agents.goals.phrases.thresholds import Threshold, parse_threshold
from app.agents.goals.tables.profiles import Column
from app.agents.goals.tables.units import convert


@pytest.mark.parametrize(
    ("text", "threshold"),
    [
        ("runs that will be over five minutes late", Threshold(True, 5, "minutes")),
        ("houses above $350k", Threshold(True, 350_000)),
        ("parcels heavier than 2.5 kilos", Threshold(True, 2.5, "kilos")),
        ("at least 80% full", Threshold(True, 80, "percent")),
        ("orders of 1,200 or more", Threshold(True, 1_200)),
        ("fewer than ten riders", Threshold(False, 10, noun="riders")),
        ("more than half an hour behind schedule", Threshold(True, 30, "minutes")),
        ("from half a billion dollars up", Threshold(True, 500_000_000, "dollars")),
        ("over two and a half hours", Threshold(True, 2.5, "hours")),
        ("longer than an hour and a half", Threshold(True, 1.5, "hour")),
        ("colder than minus five", Threshold(True, -5)),
        ("flats that let within a week", Threshold(False, 1, "week")),
        ("above five grand", Threshold(True, 5_000)),
        ("younger than 30 years", Threshold(False, 30, "years")),
        ("two weeks or less", Threshold(False, 2, "weeks")),
    ],
)
def test_a_comparison_with_a_number_is_a_threshold(text: str, threshold: Threshold) -> None:
    assert parse_threshold(text) == threshold


@pytest.mark.parametrize(
    ("text", "is_above", "is_inclusive"),
    [
        ("csat is 4 or higher", True, True),
        ("csat >= 4", True, True),
        ("csat<=4", False, True),
        ("`csat` < 4", False, False),
        ("csat is 4+", True, True),
        ("off for 4+ days", True, True),
        ("no less than 4", True, True),
        ("not more than 4", False, True),
        ("more than 4", True, False),
    ],
)
def test_a_bound_tells_if_its_own_value_meets_it(text: str, is_above: bool, is_inclusive: bool) -> None:
    threshold = parse_threshold(text)
    assert threshold is not None
    assert (threshold.above, threshold.value, threshold.is_inclusive) == (is_above, 4, is_inclusive)


@pytest.mark.parametrize("text", ["predict a+b", "2 + 3 rooms", "from 4+2 columns", "x -> y"])
def test_a_sum_is_no_bound(text: str) -> None:
    assert parse_threshold(text) is None


@pytest.mark.parametrize(
    "text", ["better than last year", "over and over", "in 5 days", "under water", "over a river"]
)
def test_other_comparisons_are_none(text: str) -> None:
    assert parse_threshold(text) is None


@pytest.mark.parametrize(
    ("value", "unit", "column", "converted"),
    [
        (5, "minutes", "late_arr_s", 300),
        (2, "kilos", "weight_g", 2_000),
        (3, "hours", "duration (min)", 180),
        (3, "days", "Hours to close", 72),
        (2, "weeks", "days_open", 14),
        (80, "percent", "load_pct", 80),
        (5, "minutes", "weight_g", 5),
        (5, None, "late_arr_s", 5),
        (5, "minutes", "delay", 5),
    ],
)
def test_an_amount_takes_the_unit_of_the_column(
    value: float, unit: str | None, column: str, converted: float
) -> None:
    assert convert(value, unit, Column(column, "number", "numeric")) == converted


def test_a_unit_written_beside_the_numbers_counts_as_one_of_the_name() -> None:
    assert convert(2, "hours", Column("delay", "number", "numeric", unit="minutes")) == 120
