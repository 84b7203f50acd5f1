"""Calibration of predicted probabilities, fitted on out-of-fold rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp
from sklearn.isotonic import IsotonicRegression

from app.modeling.facts.computation_facts import CalibrationJson
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import assign_folds, sample_rows

MIN_PROBABILITY = 1e-7
"""Probabilities are clipped here, so that logarithms are finite."""
MIN_ROWS = 30
"""With fewer rows (with half as many of either class of a binary problem), probabilities are not calibrated."""
MIN_ISOTONIC_ROWS = 500
"""Rows of the rarer class from which isotonic regression is tried: with fewer it overfits."""
MAX_CELLS = 400_000
"""Rows times classes of a fit; more are sampled, to bound its time."""
_IDENTITY_SHARE = 1e-3
"""Share of the model's own probability in an isotonic curve, so that no two rows become equal."""

Parameters = dict[str, Any]


@dataclass(frozen=True)
class CalibrationMethod:
    """One kind of calibration curve; `fit` takes class positions (rows,) and probabilities (rows, classes)."""

    name: str
    is_applicable: Callable[[np.ndarray, int], bool]
    fit: Callable[[np.ndarray, np.ndarray], Parameters]
    apply: Callable[[np.ndarray, Parameters], np.ndarray]
    text: str


def fit_calibration(
    truth: np.ndarray, output: np.ndarray, folds: np.ndarray | None = None, seed: int = 0
) -> CalibrationJson:
    """Fit the curve with the lowest cross-fitted log loss; the identity unless another is better beyond noise.

    `truth`: class positions (rows,), `output`: probabilities (rows, classes), both out of fold. `folds`
    (rows,): each curve is scored on folds that it was not fitted on. Simple curves come first, and each must
    beat the one before by a standard error.
    """
    rows = sample_rows(len(truth), MAX_CELLS // output.shape[1], seed)
    truth, output = truth[rows].astype(int), _clean(output[rows])
    folds = assign_folds(len(truth), None if folds is None else folds[rows], seed)
    best, loss = IDENTITY, _row_losses(truth, output)
    uncalibrated_loss = float(loss.mean())
    for method in METHODS:
        if not method.is_applicable(truth, output.shape[1]):
            continue
        losses = _row_losses(truth, _cross_fit(method, truth, output, folds))
        gain = loss - losses
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best, loss = method, losses
    return {
        "method": best.name,
        # Folds chose the kind of curve; the curve that is used learns from all rows.
        "parameters": best.fit(truth, output),
        "log_loss_before": round_significant(uncalibrated_loss),
        "log_loss": round_significant(float(loss.mean())),
        "rows": len(truth),
        "text": best.text.format(before=uncalibrated_loss, after=float(loss.mean()), rows=len(truth)),
    }


def apply_calibration(output: np.ndarray, fitted: Mapping[str, Any] | None) -> np.ndarray:
    """Apply a fitted curve to probabilities (rows, classes). Rows sum to 1; `fitted` None changes nothing."""
    if fitted is None or fitted["method"] == IDENTITY.name:
        return output
    return _BY_NAME[fitted["method"]].apply(_clean(output), fitted["parameters"])


def _clean(output: np.ndarray) -> np.ndarray:
    bounded = np.clip(output.astype("float64"), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    cleaned: np.ndarray = bounded / bounded.sum(axis=1, keepdims=True)
    return cleaned


def _row_losses(truth: np.ndarray, output: np.ndarray) -> np.ndarray:
    true_class_shares = output[np.arange(len(truth)), truth]
    losses: np.ndarray = -np.log(np.clip(true_class_shares, MIN_PROBABILITY, 1.0))
    return losses


def _cross_fit(
    method: CalibrationMethod, truth: np.ndarray, output: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    calibrated = np.empty_like(output)
    for fold in np.unique(folds):
        in_fold = folds == fold
        calibrated[in_fold] = method.apply(output[in_fold], method.fit(truth[~in_fold], output[~in_fold]))
    return calibrated


def _logit(output: np.ndarray) -> np.ndarray:
    odds: np.ndarray = np.log(output[:, 1]) - np.log(output[:, 0])
    return odds


def _both(second: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - second, second])


def _fit_platt(truth: np.ndarray, output: np.ndarray) -> Parameters:
    """Fit a logistic regression on the log odds by Newton's method, regularised towards the identity by one
    row."""
    odds = _logit(output)
    slope, shift = 1.0, 0.0
    for _ in range(50):
        probabilities = expit(slope * odds + shift)
        residuals, weight = probabilities - truth, probabilities * (1 - probabilities)
        gradient = np.array([residuals @ odds + slope - 1, residuals.sum() + shift])
        mixed = weight @ odds
        curvature = np.array([[weight @ odds**2 + 1, mixed], [mixed, weight.sum() + 1]])
        step = np.linalg.solve(curvature, gradient)
        # Far from the minimum the logistic curve is nearly flat, and a full Newton step overshoots.
        step /= max(1.0, float(np.abs(step).max()))
        slope, shift = slope - float(step[0]), shift - float(step[1])
        if np.abs(step).max() < 1e-8:
            break
    # A falling curve would turn the order of the rows round; calibration must not change ROC AUC.
    return {"slope": max(slope, 0.01), "shift": shift}


def _apply_platt(output: np.ndarray, parameters: Parameters) -> np.ndarray:
    return _both(expit(parameters["slope"] * _logit(output) + parameters["shift"]))


def _fit_temperature(truth: np.ndarray, output: np.ndarray) -> Parameters:
    logs = np.log(output)
    # With a largest log of zero the sum does not underflow to zero at low temperatures.
    logs -= logs.max(axis=1, keepdims=True)
    true_class_logs = float(logs[np.arange(len(truth)), truth].sum())

    def loss(log_temperature: float) -> float:
        temperature = np.exp(log_temperature)
        return float(np.log(np.exp(logs / temperature).sum(axis=1)).sum() - true_class_logs / temperature)

    # Temperatures from 0.05 to 20: beyond, probabilities are all but certain or uniform.
    minimum = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded", options={"xatol": 1e-3})
    return {"temperature": float(np.exp(minimum.x))}


def _apply_temperature(output: np.ndarray, parameters: Parameters) -> np.ndarray:
    scaled = np.log(output) / parameters["temperature"]
    probabilities: np.ndarray = np.exp(scaled - logsumexp(scaled, axis=1, keepdims=True))
    return probabilities


def _fit_isotonic(truth: np.ndarray, output: np.ndarray) -> Parameters:
    """Fit an isotonic curve to the observed shares of at most 200 bins of equal size."""
    order = np.argsort(output[:, 1], kind="stable")
    bins = [rows for rows in np.array_split(order, min(200, max(2, len(order) // 50))) if len(rows)]
    predicted_shares = np.array([output[rows, 1].mean() for rows in bins])
    # Half a row is added to each class: a share of 0 or 1 would make the first exception's log loss huge.
    observed_shares = np.array([(truth[rows].sum() + 0.5) / (len(rows) + 1) for rows in bins])
    isotonic = IsotonicRegression().fit(
        predicted_shares, observed_shares, sample_weight=[len(rows) for rows in bins]
    )
    positions = np.unique(predicted_shares)
    return {"said": positions.tolist(), "seen": isotonic.predict(positions).tolist()}


def _apply_isotonic(output: np.ndarray, parameters: Parameters) -> np.ndarray:
    curve = np.interp(output[:, 1], parameters["said"], parameters["seen"])
    return _both((1 - _IDENTITY_SHARE) * curve + _IDENTITY_SHARE * output[:, 1])


def _has_rows_of_both(min_rows: int) -> Callable[[np.ndarray, int], bool]:
    return lambda truth, classes: classes == 2 and bool(np.bincount(truth, minlength=2).min() >= min_rows)


IDENTITY = CalibrationMethod(
    "identity",
    lambda truth, classes: True,
    lambda truth, output: {},
    lambda output, parameters: output,
    "The model's probabilities are not calibrated: no curve lowered the log loss ({before:.4g})"
    " of {rows:,} out-of-fold rows beyond noise.",
)
_CHANGED = " on {rows:,} out-of-fold rows: the cross-fitted log loss fell from {before:.4g} to {after:.4g}."
METHODS = (
    CalibrationMethod(
        "platt",
        _has_rows_of_both(MIN_ROWS // 2),
        _fit_platt,
        _apply_platt,
        "Probabilities are calibrated by a logistic curve (Platt)" + _CHANGED,
    ),
    CalibrationMethod(
        "isotonic",
        _has_rows_of_both(MIN_ISOTONIC_ROWS),
        _fit_isotonic,
        _apply_isotonic,
        "Probabilities are calibrated by an isotonic curve" + _CHANGED,
    ),
    CalibrationMethod(
        "temperature",
        lambda truth, classes: classes > 2 and len(truth) >= MIN_ROWS,
        _fit_temperature,
        _apply_temperature,
        "Probabilities of all classes are calibrated by one temperature" + _CHANGED,
    ),
)
_BY_NAME = {method.name: method for method in METHODS}
