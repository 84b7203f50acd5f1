"""Frequencies in the words of goals."""

import pytest

from app.agents.goals.periods.phrases import read_frequency


@pytest.mark.parametrize(
    ("text", "frequency"),
    [
        ("load every half hour of tomorrow", ("minute", 30)),
        ("half-hourly load", ("minute", 30)),
        ("calls every 15 minutes", ("minute", 15)),
        ("load in 30-minute intervals", ("minute", 30)),
        ("load per quarter hour", ("minute", 15)),
        ("takings per fortnight", ("week", 2)),
        ("takings every other week", ("week", 2)),
        ("fortnightly takings", ("week", 2)),
        ("sales each half year", ("quarter", 2)),
        ("sales every quarter", ("quarter", 1)),
        ("births per decade", ("year", 10)),
        ("weekly sales", ("week", 1)),
        ("sales hour by hour", ("hour", 1)),
    ],
)
def test_frequencies_are_read(text: str, frequency: tuple[str, int]) -> None:
    assert read_frequency(text) == frequency


@pytest.mark.parametrize(
    "text", ["sales in a month", "sales in two weeks", "the next 2 weeks", "half of the day"]
)
def test_a_distance_is_no_frequency(text: str) -> None:
    assert read_frequency(text) is None
