"""Miscalibrated probabilities are corrected, calibrated ones stay unchanged."""

import json

import numpy as np
import pytest
from scipy.special import expit, softmax

from app.modeling.scoring.calibration import apply_calibration, fit_calibration


def binary(rows: int, slope: float, shift: float = 0.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and predicted probabilities with log odds `slope` times too large, plus `shift`."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(size=rows) * 1.5 - 1
    truth = (rng.random(rows) < expit(odds)).astype(int)
    probabilities = expit(slope * odds + shift)
    return truth, np.column_stack([1 - probabilities, probabilities])


def log_loss(truth: np.ndarray, output: np.ndarray) -> float:
    return float(-np.log(output[np.arange(len(truth)), truth]).mean())


def test_a_calibrated_model_stays_unchanged() -> None:
    unchanged = sum(fit_calibration(*binary(400, 1.0, seed=seed))["method"] == "identity" for seed in range(20))
    assert unchanged >= 16


@pytest.mark.parametrize(("slope", "shift"), [(3.0, 0.0), (0.3, 0.0), (1.0, 1.5)])
def test_a_wrong_slope_or_shift_is_corrected_on_new_rows(slope: float, shift: float) -> None:
    fitted = fit_calibration(*binary(1500, slope, shift))
    assert fitted["method"] in ("platt", "isotonic")
    truth, output = binary(4000, slope, shift, seed=1)
    _, right = binary(4000, 1.0, seed=1)
    assert log_loss(truth, apply_calibration(output, fitted)) < log_loss(truth, right) + 0.005


def test_a_nonlinear_curve_is_fitted_by_isotonic_regression_in_the_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.random(6000)
    truth = (rng.random(6000) < np.where(probabilities < 0.6, 0.1, 0.9)).astype(int)
    output = np.column_stack([1 - probabilities, probabilities])
    fitted = fit_calibration(truth, output)
    assert fitted["method"] == "isotonic"
    assert np.array_equal(np.argsort(apply_calibration(output, fitted)[:, 1]), np.argsort(probabilities))


def test_classes_share_one_temperature() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2000, 4)) * 1.5
    truth = np.array([rng.choice(4, p=row) for row in softmax(scores, axis=1)])
    fitted = fit_calibration(truth, softmax(4 * scores, axis=1))
    assert fitted["method"] == "temperature"
    assert fitted["parameters"]["temperature"] == pytest.approx(4.0, rel=0.15)
    calibrated = apply_calibration(softmax(4 * scores, axis=1), fitted)
    assert np.allclose(calibrated.sum(axis=1), 1.0)


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_few_rows_change_nothing(rows: int) -> None:
    truth, output = binary(rows, 5.0)
    assert fit_calibration(truth, output)["method"] == "identity"


def test_certain_probabilities_and_a_single_class_are_accepted() -> None:
    certain = np.array([[0.0, 1.0]] * 50)
    assert fit_calibration(np.ones(50), certain)["method"] == "identity"
    truth = np.array([0, 1] * 50)
    assert np.isfinite(apply_calibration(certain, fit_calibration(truth, np.repeat(certain, 2, axis=0)))).all()


def test_parameters_survive_json_and_the_text_names_the_rows() -> None:
    fitted = fit_calibration(*binary(1500, 3.0))
    _, output = binary(100, 3.0, seed=2)
    reloaded = json.loads(json.dumps(fitted, allow_nan=False))
    assert np.array_equal(apply_calibration(output, reloaded), apply_calibration(output, fitted))
    assert "1,500 out-of-fold rows" in fitted["text"]


def test_without_a_calibration_nothing_changes() -> None:
    _, output = binary(10, 1.0)
    assert apply_calibration(output, None) is output
