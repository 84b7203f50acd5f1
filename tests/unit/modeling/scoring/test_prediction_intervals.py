"""Prediction intervals: coverage on new rows, and adaptation to the errors."""

import json

import numpy as np
import pytest

from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.prediction_intervals import (
    LEVELS,
    fit_intervals,
    measure_coverage,
    predict_interval,
    widen_intervals,
)


def even(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    predictions = rng.normal(size=rows) * 10
    return predictions + rng.normal(size=rows), predictions


def growing(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors grow with the prediction, and are skewed."""
    rng = np.random.default_rng(seed)
    predictions = rng.uniform(1, 100, rows)
    return predictions * (1 + 0.3 * (rng.exponential(size=rows) - 1)), predictions


def amounts(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Skewed amounts of which many are zero, with the best possible predictions: their means."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    share = 1 / (1 + np.exp(0.8 - size))
    amount = np.exp(1 + 0.7 * size + rng.normal(0, 0.7, rows))
    return np.where(rng.random(rows) < share, amount, 0.0), share * np.exp(1 + 0.7 * size + 0.7**2 / 2)


def skewed(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows)
    return np.exp(size + rng.normal(0, 0.6, rows)), np.exp(size + 0.6**2 / 2)


def counts(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    means = np.exp(-1 + 0.8 * rng.normal(size=rows))
    return rng.poisson(means).astype("float64"), means


def below_zero(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Amounts of which some are negative, with errors that grow with the prediction."""
    truth, predictions = skewed(rows, seed)
    return truth - 5, predictions - 5


def share_of_largest(make_rows: object, rows: int) -> float:
    """The share of the tenth with the largest predictions that intervals of `rows` rows hold, of 20 samples."""
    shares = []
    for seed in range(20):
        fitted = fit_intervals(*make_rows(rows, seed))  # type: ignore[operator]
        assert fitted is not None
        truth, predictions = make_rows(5_000, 1_000 + seed)  # type: ignore[operator]
        low, high = predict_interval(predictions, fitted)
        largest = np.argsort(predictions)[-500:]
        shares.append(float(((truth >= low) & (truth <= high))[largest].mean()))
    return float(np.mean(shares))


@pytest.mark.parametrize(
    ("make_rows", "rows"), [(amounts, 200), (amounts, 1_000), (skewed, 200), (skewed, 1_000), (counts, 1_000)]
)
def test_intervals_hold_the_largest_amounts_too(make_rows: object, rows: int) -> None:
    assert 0.87 <= share_of_largest(make_rows, rows) <= 0.96


def test_errors_of_the_largest_of_few_predictions_are_not_those_of_medium_ones() -> None:
    assert share_of_largest(below_zero, 200) >= 0.78


def test_where_many_rows_are_zero_the_misses_lie_above() -> None:
    fitted = fit_intervals(*amounts(2_000, 0))
    assert fitted is not None
    assert fitted["method"] == "proportional"
    truth, predictions = amounts(20_000, 1)
    low, high = predict_interval(predictions, fitted)
    assert (low[predictions < 5] == 0).all()
    assert ((truth >= low) & (truth <= high)).mean() == pytest.approx(0.9, abs=0.025)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("make_rows", [even, growing])
def test_coverage_on_new_rows_equals_the_level(make_rows: object, level: float) -> None:
    fitted = fit_intervals(*make_rows(1000, 0))  # type: ignore[operator]
    assert fitted is not None
    truth, predictions = make_rows(4000, 1)  # type: ignore[operator]
    low, high = predict_interval(predictions, fitted, level)
    assert ((truth >= low) & (truth <= high)).mean() == pytest.approx(level, abs=0.035)


@pytest.mark.parametrize(("shift", "method"), [(0.0, "proportional"), (-1.0, "scaled")])
def test_intervals_scale_with_errors_that_grow(shift: float, method: str) -> None:
    truth, predictions = growing(2000, 0)
    # A target that may be negative is in no proportion to its prediction.
    fitted = fit_intervals(np.append(truth, shift), np.append(predictions, 1.0))
    assert fitted is not None
    assert fitted["method"] == method
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


def path_errors(seed: int, origins: int, horizon: int, is_walk: bool) -> np.ndarray:
    """Errors (origins, horizon) of forecasts of each step: of a walk, or of a fixed level."""
    noise = np.random.default_rng(seed).normal(size=origins + horizon)
    paths = np.array([noise[origin : origin + horizon] for origin in range(origins)])
    return np.cumsum(paths, axis=1) if is_walk else paths


@pytest.mark.parametrize("is_walk", [True, False])
def test_intervals_of_steps_hold_what_they_say_where_errors_hang_together(is_walk: bool) -> None:
    origins, horizon, shares = 40, 12, []
    steps = np.arange(1, horizon + 1)
    for seed in range(40):
        past = path_errors(seed, origins, horizon, is_walk).ravel()
        folds = np.repeat(np.arange(origins) * 4 // origins, horizon)
        fitted = fit_intervals(past, np.zeros(len(past)), folds, True, 0, np.tile(steps, origins))
        assert fitted is not None
        later = path_errors(1_000 + seed, 100, horizon, is_walk).ravel()
        low, high = predict_interval(np.zeros(len(later)), fitted, rows_ahead=np.tile(steps, 100))
        shares.append(((later >= low) & (later <= high)).mean())
    assert np.mean(shares) == pytest.approx(0.9, abs=0.035)


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


def test_intervals_that_held_too_few_rows_are_widened_until_they_hold_them() -> None:
    fitted = fit_intervals(*even(400, 0))
    assert fitted is not None
    truth, predictions = even(400, 1)
    worse = predictions + 2 * (truth - predictions)
    factor = measure_coverage(worse, predictions, fitted)["widening"]
    assert factor == pytest.approx(2, rel=0.15)
    wider = widen_intervals(fitted, factor)
    low, high = predict_interval(predictions, wider)
    assert ((worse >= low) & (worse <= high)).mean() == pytest.approx(0.9, abs=0.01)
    assert "wider by a factor" in wider["text"]


def test_intervals_in_proportion_are_widened_too() -> None:
    fitted = fit_intervals(*skewed(400, 0))
    assert fitted is not None
    wider = json.loads(json.dumps(widen_intervals(fitted, 2.0), allow_nan=False))
    (low, high), (wider_low, wider_high) = (predict_interval(np.ones(1), each) for each in (fitted, wider))
    assert wider_high[0] - 1 == pytest.approx(2 * (high[0] - 1))
    assert wider_low[0] == pytest.approx(max(1 - 2 * (1 - low[0]), 0.0))


def test_intervals_that_hold_what_they_say_are_kept() -> None:
    fitted = fit_intervals(*even(400, 0))
    assert fitted is not None
    assert "widening" not in measure_coverage(*even(400, 1), fitted)
