"""Means and shares of rows that depend on each other within units."""

import numpy as np
import pytest
from scipy import stats

from app.modeling.scoring.unit_means import bound_mean, bound_share, measure_excess


@pytest.mark.parametrize(("unit_count", "rows"), [(40, 50), (10, 100), (4, 50)])
def test_shares_of_dependent_rows_are_covered(unit_count: int, rows: int) -> None:
    """Wilson's interval of single rows covers a third to two thirds of them."""
    units, covered = np.repeat(np.arange(unit_count), rows), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=unit_count)[units]
        hits = np.sqrt(0.5) * common + np.sqrt(0.5) * rng.normal(size=len(units)) < stats.norm.ppf(0.9)
        low, high = bound_share(hits, units)
        covered += low <= 0.9 <= high
    assert covered >= 88


def test_means_of_dependent_rows_are_covered() -> None:
    units, covered = np.repeat(np.arange(12), 30), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        low, high = bound_mean(rng.normal(size=12)[units] + rng.normal(size=360), units)
        covered += low <= 0 <= high
    assert 89 <= covered <= 99


def test_single_rows_have_wilsons_interval() -> None:
    low, high = bound_share(np.arange(100) < 90, np.arange(100))
    assert (low, high) == pytest.approx((0.8256, 0.9448), abs=1e-4)


def test_a_single_unit_tells_nothing() -> None:
    values, units = np.arange(60.0), np.zeros(60, dtype=int)
    assert np.isnan([*bound_mean(values, units), *bound_share(values > 9, units)]).all()
    assert measure_excess(values, values > 30, units) == (0.0, 1.0)


def test_what_rows_of_a_unit_share_cancels_where_they_lie_on_both_sides() -> None:
    rng, units = np.random.default_rng(0), np.repeat(np.arange(20), 20)
    is_inside = np.arange(400) % 2 == 0
    values = 10 * rng.normal(size=20)[units] + rng.normal(size=400) + is_inside
    assert measure_excess(values, is_inside, units)[1] < 1e-6
