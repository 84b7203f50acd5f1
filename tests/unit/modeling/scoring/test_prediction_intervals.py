"""Prediction intervals: coverage on new rows, and adaptation to the errors."""

import json

import numpy as np
import pytest

from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.prediction_intervals import LEVELS, fit_intervals, measure_coverage, predict_interval


def even(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    predictions = rng.normal(size=rows) * 10
    return predictions + rng.normal(size=rows), predictions


def growing(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors grow with the prediction, and are skewed."""
    rng = np.random.default_rng(seed)
    predictions = rng.uniform(1, 100, rows)
    return predictions * (1 + 0.3 * (rng.exponential(size=rows) - 1)), predictions


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make_rows", [even, growing])
def test_coverage_on_new_rows_equals_the_level(make_rows: object, level: float) -> None:
    fitted = fit_intervals(*make_rows(1000, 0))  # type: ignore[operator]
    assert fitted is not None
    truth, predictions = make_rows(4000, 1)  # type: ignore[operator]
    low, high = predict_interval(predictions, fitted, level)
    assert ((truth >= low) & (truth <= high)).mean() == pytest.approx(level, abs=0.035)


def test_intervals_scale_with_errors_that_grow() -> None:
    fitted = fit_intervals(*growing(2000, 0))
    assert fitted is not None
    assert fitted["method"] == "scaled"
    low, high = predict_interval(np.array([5.0, 90.0]), fitted)
    assert (high - low)[1] > 5 * (high - low)[0]
    truth, predictions = growing(4000, 1)
    low, high = predict_interval(predictions, fitted)
    for part in (predictions < 20, predictions > 80):
        assert ((truth >= low) & (truth <= high))[part].mean() == pytest.approx(0.9, abs=0.05)


def test_homoscedastic_errors_get_constant_intervals() -> None:
    fitted = fit_intervals(*even(1000, 0))
    assert fitted is not None
    assert fitted["method"] == "constant"
    assert "constant width" in fitted["text"]


def test_intervals_from_few_rows_cover_new_rows() -> None:
    inside = []
    for seed in range(60):
        fitted = fit_intervals(*even(30, seed))
        assert fitted is not None
        low, high = predict_interval(even(50, 1000 + seed)[1], fitted)
        truth = even(50, 1000 + seed)[0]
        inside.append(float(((truth >= low) & (truth <= high)).mean()))
    assert np.mean(inside) >= 0.88


def test_in_time_order_the_latest_errors_weigh_most() -> None:
    rng = np.random.default_rng(0)
    predictions = np.zeros(1000)
    truth = rng.normal(size=1000) * np.linspace(1, 5, 1000)
    ordered, unordered = fit_intervals(truth, predictions, in_order=True), fit_intervals(truth, predictions)
    assert ordered is not None
    assert unordered is not None
    widths = [
        float(np.diff(predict_interval(np.zeros(1), fitted), axis=0)[0, 0]) for fitted in (ordered, unordered)
    ]
    assert widths[0] > 1.15 * widths[1]
    later = rng.normal(size=2000) * 5
    share = measure_coverage(later, np.zeros(2000), ordered)["coverage"]["value"]
    assert share is not None
    assert share >= 0.8


def test_nonnegative_targets_have_no_negative_bound() -> None:
    truth, predictions = np.random.default_rng(0).poisson(1.0, 500).astype(float), np.ones(500)
    fitted = fit_intervals(truth, predictions)
    assert fitted is not None
    assert predict_interval(np.array([0.2]), fitted)[0][0] == 0.0


def test_too_few_rows_give_no_interval() -> None:
    assert fit_intervals(np.arange(10.0), np.arange(10.0)) is None


def test_perfect_and_missing_predictions_are_accepted() -> None:
    perfect = np.arange(100.0)
    fitted = fit_intervals(perfect, perfect)
    assert fitted is not None
    json.dumps(fitted, allow_nan=False)
    assert measure_coverage(perfect, perfect, fitted)["coverage"]["value"] == 1.0
    gaps = perfect.copy()
    gaps[::3] = np.nan
    partial = fit_intervals(perfect, gaps)
    assert partial is not None
    assert partial["rows"] == 66


def test_measured_coverage_has_an_interval() -> None:
    fitted = fit_intervals(*even(1000, 0))
    assert fitted is not None
    truth, predictions = even(200, 1)
    measured = measure_coverage(3 * (truth - predictions) + predictions, predictions, fitted)
    assert measured["coverage"]["high"] is not None
    assert measured["coverage"]["high"] < 0.9


@pytest.mark.parametrize(
    ("lowest_value", "in_order", "lowest"),
    [(4.0, True, None), (0.0, True, 0.0), (4.0, False, 0.0), (-1.0, False, None)],
)
def test_intervals_end_at_zero_where_the_target_can_fall_no_further(
    lowest_value: float, in_order: bool, lowest: float | None
) -> None:
    truth, predictions = even(300, 0)
    truth = truth - truth.min() + lowest_value
    fitted = fit_intervals(truth, predictions, in_order=in_order)
    assert fitted is not None
    assert fitted["lowest"] == lowest


def test_the_coverage_of_rows_that_err_together_is_as_uncertain_as_their_units() -> None:
    rng, groups = np.random.default_rng(0), np.repeat(np.arange(8), 50)
    fitted = fit_intervals(rng.normal(size=500), np.zeros(500))
    assert fitted is not None
    truth = rng.normal(size=8)[groups] + 0.1 * rng.normal(size=400)
    alone = measure_coverage(truth, np.zeros(400), fitted)["coverage"]
    together = [
        measure_coverage(
            truth, np.zeros(400), fitted, units=IndependentUnits.of_clusters(codes, UnitKind.GROUPS)
        )["coverage"]
        for codes in (groups, np.zeros(400))
    ]
    assert together[0]["value"] == together[1]["value"] == alone["value"]
    assert together[0]["high"] - together[0]["low"] > 2 * (alone["high"] - alone["low"])
    assert (together[1]["low"], together[1]["high"]) == (None, None)
