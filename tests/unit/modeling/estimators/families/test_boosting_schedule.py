"""Paces from time limits, clocks, and the choice of families for a table."""

import pytest

from app.modeling.estimators.families.boosting_schedule import (
    DEFAULT_RATE,
    MAX_RATE,
    MIN_RATE,
    ROUNDS_TIMES_RATE,
    Clock,
    choose_pace,
)
from app.modeling.problem.family_catalog import has_long_tail, select_families


@pytest.mark.parametrize("seconds", [0.5, 2, 8, 60, 3600])
@pytest.mark.parametrize("round_s", [0.0005, 0.01, 0.3])
def test_all_rounds_of_a_pace_fit_into_the_time_limit(seconds: float, round_s: float) -> None:
    pace = choose_pace(seconds, round_s)
    assert pace.rounds * round_s <= max(seconds, 5 * round_s) * 1.001
    assert MIN_RATE <= pace.learning_rate <= MAX_RATE
    assert pace.patience >= 15


def test_more_time_lowers_the_rate_for_the_same_total_learning() -> None:
    quick, slow = choose_pace(1, 0.01), choose_pace(10, 0.01)
    assert slow.learning_rate < quick.learning_rate
    for pace in (quick, slow):
        assert pace.rounds * pace.learning_rate == pytest.approx(ROUNDS_TIMES_RATE, rel=0.1)


def test_a_pace_without_a_time_limit_is_fixed_and_a_fixed_rate_is_used() -> None:
    assert choose_pace(None, 123.0).learning_rate == DEFAULT_RATE
    assert choose_pace(None, 123.0) == choose_pace(None, 0.001)
    assert choose_pace(5, 0.01, rate=0.07).learning_rate == 0.07


def test_a_clock_is_extended_up_to_its_maximum() -> None:
    short = Clock(1.0, max_seconds=10.0)
    short.extend(5.0)
    assert short.remaining_s is not None
    assert 4.5 < short.remaining_s <= 5.01
    short.extend(100.0)
    assert 9 < short.remaining_s <= 10.01
    enough = Clock(8.0, max_seconds=10.0)
    enough.extend(2.0)
    assert enough.remaining_s is not None
    assert enough.remaining_s > 7
    assert Clock(None).remaining_s is None


def test_families_are_selected_by_kind_and_size() -> None:
    names = [family.name for family in select_families("classification", 5000, 20)]
    assert names[:2] == ["LightGBM", "LogisticRegression"]
    assert "Ridge" not in names
    assert "Network" not in [family.name for family in select_families("regression", 100, 20)]
    assert "Network" not in [family.name for family in select_families("regression", 5000, 2000)]


def test_a_long_tail_is_detected_in_the_summary_of_a_target() -> None:
    prices = {"min": 1.0, "median": 100.0, "mean": 180.0, "max": 9000.0, "std": 300.0}
    assert has_long_tail(prices)
    assert not has_long_tail({**prices, "min": -1.0})
    assert not has_long_tail({**prices, "mean": 101.0})
