"""Bounds of errors of forecasts on a hold-out with two or three horizons."""

import numpy as np
import pytest

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.few_blocks import bound_by_errors
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.scores import Predicted

MOMENTS, HORIZON = 14, 6
FORECASTS = Problem("y", ProblemKind.REGRESSION, "rmse", time_column="month", horizon=HORIZON, every_step=True)


def draw_walk_errors(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw errors of a walk's forecasts, each step from each moment; returns errors and moments (rows,)."""
    walk = np.cumsum(np.random.default_rng(seed).normal(size=MOMENTS + 1))
    pairs = [
        (walk[min(moment + step, MOMENTS)] - walk[moment], moment)
        for moment in range(MOMENTS)
        for step in range(1, HORIZON + 1)
        if moment + step <= MOMENTS
    ]
    errors, moments = np.array(pairs).T
    return errors, moments


def test_errors_of_two_horizons_have_bounds_that_are_of_use_and_hold() -> None:
    """The jackknife of two blocks has one degree of freedom: half of its bounds lie apart by a factor of 58."""
    true_rmse = np.sqrt(np.mean([np.mean(draw_walk_errors(seed)[0] ** 2) for seed in range(1000, 1400)]))
    held, ratios = 0, []
    for seed in range(60):
        errors, moments = draw_walk_errors(seed)
        units = IndependentUnits.of_moments(moments, HORIZON)
        predicted = Predicted(np.zeros(len(errors)), errors)
        score = bootstrap(predicted, predicted, FORECASTS, make_resampling(units), seed)[0]["rmse"]
        assert score["low"] is not None
        assert score["high"] is not None
        held += score["low"] <= true_rmse <= score["high"]
        ratios.append(score["high"] / score["low"])
    assert held >= 49
    assert max(ratios) < 10


def test_a_larger_error_is_a_smaller_share_of_variance() -> None:
    units = IndependentUnits.of_moments(np.arange(24), 8)
    low, high = bound_by_errors(0.8, "r2", units)
    smaller, larger = (bound**2 for bound in bound_by_errors(1.0, "rmse", units))
    assert low < 0.8 < high < 1
    assert (1 - high, 1 - low) == pytest.approx((0.2 * smaller, 0.2 * larger))


def test_other_units_and_metrics_are_not_bound_by_errors() -> None:
    blocks = IndependentUnits.of_moments(np.arange(24), 8)
    assert bound_by_errors(0.7, "roc_auc", blocks) == (-np.inf, np.inf)
    assert bound_by_errors(0.7, "rmse", IndependentUnits.of_moments(np.arange(24))) == (-np.inf, np.inf)
    assert bound_by_errors(0.7, "rmse", IndependentUnits.of_rows(24)) == (-np.inf, np.inf)
