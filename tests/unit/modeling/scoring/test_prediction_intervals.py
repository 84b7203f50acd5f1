"""Prediction intervals hold the share of new rows that they say."""

import json

import numpy as np
import pytest

from app.modeling.scoring.prediction_intervals import LEVELS, fit_intervals, measure_coverage, predict_interval


def even(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    said = rng.normal(size=rows) * 10
    return said + rng.normal(size=rows), said


def growing(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors grow with the prediction, and are lopsided."""
    rng = np.random.default_rng(seed)
    said = rng.uniform(1, 100, rows)
    return said * (1 + 0.3 * (rng.exponential(size=rows) - 1)), said


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("made", [even, growing])
def test_new_rows_lie_inside_as_often_as_said(made: object, level: float) -> None:
    fitted = fit_intervals(*made(1000, 0))  # type: ignore[operator]
    assert fitted is not None
    truth, said = made(4000, 1)  # type: ignore[operator]
    low, high = predict_interval(said, fitted, level)
    assert ((truth >= low) & (truth <= high)).mean() == pytest.approx(level, abs=0.035)


def test_intervals_are_as_wide_as_the_errors_are_where_errors_grow() -> None:
    fitted = fit_intervals(*growing(2000, 0))
    assert fitted is not None
    assert fitted["method"] == "scaled"
    low, high = predict_interval(np.array([5.0, 90.0]), fitted)
    assert (high - low)[1] > 5 * (high - low)[0]
    truth, said = growing(4000, 1)
    low, high = predict_interval(said, fitted)
    for part in (said < 20, said > 80):
        assert ((truth >= low) & (truth <= high))[part].mean() == pytest.approx(0.9, abs=0.05)


def test_even_errors_get_even_intervals() -> None:
    fitted = fit_intervals(*even(1000, 0))
    assert fitted is not None
    assert fitted["method"] == "constant"
    assert "constant width" in fitted["text"]


def test_few_rows_are_covered_too() -> None:
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
    said = np.zeros(1000)
    truth = rng.normal(size=1000) * np.linspace(1, 5, 1000)
    in_order, any_order = fit_intervals(truth, said, in_order=True), fit_intervals(truth, said)
    assert in_order is not None
    assert any_order is not None
    widths = [
        float(np.diff(predict_interval(np.zeros(1), fitted), axis=0)[0, 0]) for fitted in (in_order, any_order)
    ]
    assert widths[0] > 1.15 * widths[1]
    later = rng.normal(size=2000) * 5
    reached = measure_coverage(later, np.zeros(2000), in_order)["coverage"]["value"]
    assert reached is not None
    assert reached >= 0.8


def test_what_is_never_negative_has_no_negative_bound() -> None:
    truth, said = np.random.default_rng(0).poisson(1.0, 500).astype(float), np.ones(500)
    fitted = fit_intervals(truth, said)
    assert fitted is not None
    assert predict_interval(np.array([0.2]), fitted)[0][0] == 0.0


def test_too_few_rows_give_no_interval() -> None:
    assert fit_intervals(np.arange(10.0), np.arange(10.0)) is None


def test_perfect_and_missing_predictions_are_borne() -> None:
    perfect = np.arange(100.0)
    fitted = fit_intervals(perfect, perfect)
    assert fitted is not None
    json.dumps(fitted, allow_nan=False)
    assert measure_coverage(perfect, perfect, fitted)["coverage"]["value"] == 1.0
    gaps = perfect.copy()
    gaps[::3] = np.nan
    some = fit_intervals(perfect, gaps)
    assert some is not None
    assert some["rows"] == 66


def test_coverage_is_checked_with_its_own_doubt() -> None:
    fitted = fit_intervals(*even(1000, 0))
    assert fitted is not None
    truth, said = even(200, 1)
    reached = measure_coverage(3 * (truth - said) + said, said, fitted)
    assert reached["coverage"]["high"] is not None
    assert reached["coverage"]["high"] < 0.9
