"""Intervals of metrics: coverage by units, and draws of blocks, groups or rows."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.intervals import bootstrap, draw_counts, make_resampling
from app.modeling.scoring.scores import Predicted

NUMBER = Problem("y", ProblemKind.REGRESSION, "mae")
IN_TIME = Problem("y", ProblemKind.REGRESSION, "mae", time_column="day", horizon=2)
MEAN_SIZE = float(np.sqrt(2 / np.pi))
"""Mean absolute value of a standard normal number."""


def interval(
    predicted: Predicted, units: IndependentUnits, problem: Problem = NUMBER, seed: int = 0
) -> Interval:
    scheme = replace(make_resampling(units), resamples=400)
    return bootstrap(predicted, predicted, problem, scheme, seed)[0][problem.metric]


def count_covered(truth: float, intervals: Iterable[Interval]) -> int:
    """Count the intervals that hold a value. All must have bounds."""
    bounds = [(interval["low"], interval["high"]) for interval in intervals]
    assert all(low is not None and high is not None for low, high in bounds)
    return sum((low or 0.0) <= truth <= (high or 0.0) for low, high in bounds)


def test_about_95_of_100_intervals_cover_the_truth() -> None:
    drawn = (Predicted(np.zeros(80), np.random.default_rng(seed).normal(size=80)) for seed in range(100))
    units = IndependentUnits.of_rows(80)
    intervals = [interval(predicted, units, seed=seed) for seed, predicted in enumerate(drawn)]
    assert 86 <= count_covered(MEAN_SIZE, intervals) <= 99


@pytest.mark.parametrize("group_count", [2, 3])
def test_few_groups_have_intervals_that_cover_the_truth(group_count: int) -> None:
    """A bootstrap covers 46 % and 70 % of them, the jackknife 93 % and 88 %: such errors are skewed."""
    groups = np.repeat(np.arange(group_count), 40)
    units = IndependentUnits.of_clusters(groups, UnitKind.GROUPS)
    intervals = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        errors = (rng.normal(size=group_count)[groups] + rng.normal(size=len(groups))) / np.sqrt(2)
        intervals.append(interval(Predicted(np.zeros(len(groups)), errors), units, seed=seed))
    assert count_covered(MEAN_SIZE, intervals) >= 80


def test_rows_with_copies_have_intervals_as_wide_as_distinct_rows() -> None:
    units = IndependentUnits.of_clusters(np.tile(np.arange(80), 5), UnitKind.COPIES)
    intervals = [
        interval(
            Predicted(np.zeros(400), np.tile(np.random.default_rng(seed).normal(size=80), 5)), units, seed=seed
        )
        for seed in range(100)
    ]
    assert count_covered(MEAN_SIZE, intervals) >= 86


def test_series_with_common_shocks_are_drawn_by_moments() -> None:
    """Errors of 20 series over 120 moments share most of a moving average of 15 of them.

    Blocks that count rows of all series, of 6 moments each, cover 79 %.
    """
    units = IndependentUnits.of_moments(np.repeat(np.arange(120), 20), overlap=15)
    intervals = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        shocks = np.convolve(rng.normal(size=134), np.ones(15), "valid") / np.sqrt(15)
        errors = np.sqrt(0.9) * np.repeat(shocks, 20) + np.sqrt(0.1) * rng.normal(size=2400)
        intervals.append(interval(Predicted(np.zeros(2400), errors), units, IN_TIME, seed))
    assert count_covered(MEAN_SIZE, intervals) >= 86


@pytest.mark.parametrize(
    "units",
    [
        IndependentUnits.of_clusters(np.zeros(30), UnitKind.GROUPS),
        IndependentUnits.of_moments(np.arange(30), overlap=20),
        IndependentUnits.of_rows(1),
    ],
)
def test_a_single_unit_has_no_bounds(units: IndependentUnits) -> None:
    rows = len(units.clusters)
    predicted = Predicted(np.zeros(rows), np.random.default_rng(0).normal(size=rows))
    measured = interval(predicted, units)
    assert (measured["low"], measured["high"]) == (None, None)
    assert measured["value"] is not None
    assert make_resampling(units).method.startswith("no intervals")


def draw(units: IndependentUnits) -> np.ndarray:
    return next(draw_counts(make_resampling(units), np.random.default_rng(0)))


def test_neighbours_in_time_are_drawn_in_blocks() -> None:
    units = IndependentUnits.of_moments(np.arange(100), overlap=2)
    counts = draw(units)
    assert (counts.sum(axis=0) == 100).all()
    # A block of five rows ends between two neighbours in one of five cases.
    assert np.corrcoef(counts[1:].ravel(), counts[:-1].ravel())[0, 1] > 0.6
    assert "blocks of 5 rows" in make_resampling(units).method
    panel = IndependentUnits.of_moments(np.repeat(np.arange(100), 3), overlap=2)
    assert "blocks of 5 moments" in make_resampling(panel).method
    assert (draw(panel)[::3] == draw(panel)[2::3]).all()


def test_groups_are_drawn_whole() -> None:
    counts = draw(IndependentUnits.of_clusters(np.repeat(["a", "b", "c"], [5, 3, 2]), UnitKind.GROUPS))
    for rows in (slice(0, 5), slice(5, 8), slice(8, 10)):
        assert (counts[rows] == counts[rows][0]).all()


def test_large_hold_outs_take_fewer_resamples() -> None:
    assert make_resampling(IndependentUnits.of_rows(100)).resamples == 1000
    large = make_resampling(IndependentUnits.of_rows(1_000_000))
    assert large.resamples == 100
    assert "normal bootstrap" in large.method
