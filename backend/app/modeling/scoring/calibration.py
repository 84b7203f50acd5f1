"""Probabilities that mean what they say, learned on rows that did not teach the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp
from sklearn.isotonic import IsotonicRegression

from app.modeling.problem.results import CalibrationJson
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import assign_folds, sample_rows

SMALLEST = 1e-7
MIN_ROWS = 30
"""With fewer rows than this, or of either side of a binary problem, probabilities stay as they are."""
MIN_FOR_STEPS = 500
"""Rows of the rarer class from which a free-form curve is tried."""
MAX_CELLS = 400_000
"""Rows times classes that a curve is learned from, drawn at random where there are more."""
_SLOPE = 1e-3
"""Share of the model's own probability in an isotonic curve, so that no two rows become equal."""

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """One family of curves; `fit` takes places of classes (rows,) and probabilities (rows, classes)."""

    name: str
    fits: Callable[[np.ndarray, int], bool]
    fit: Callable[[np.ndarray, np.ndarray], Parameters]
    apply: Callable[[np.ndarray, Parameters], np.ndarray]
    text: str


def fit_calibration(
    truth: np.ndarray, output: np.ndarray, parts: np.ndarray | None = None, seed: int = 0
) -> CalibrationJson:
    """The curve with the lowest cross-fitted log loss; the identity unless another is better beyond noise.

    `truth`: places of classes (rows,), `output`: probabilities (rows, classes), both of rows that did not teach
    the model. `parts` names rows that were judged together (folds); a curve is tried on parts it was not
    fitted on. Simple curves come first, and each must beat the one before by a standard error.
    """
    rows = sample_rows(len(truth), MAX_CELLS // output.shape[1], seed)
    truth, output = truth[rows].astype(int), _clean(output[rows])
    parts = assign_folds(len(truth), None if parts is None else parts[rows], seed)
    best, loss = IDENTITY, _row_losses(truth, output)
    before = float(loss.mean())
    for method in METHODS:
        if not method.fits(truth, output.shape[1]):
            continue
        tried = _row_losses(truth, _cross_fitted(method, truth, output, parts))
        gain = loss - tried
        if gain.mean() > gain.std() / np.sqrt(len(gain)):
            best, loss = method, tried
    return {
        "method": best.name,
        "parameters": best.fit(truth, output),
        "log_loss_before": round_significant(before),
        "log_loss": round_significant(float(loss.mean())),
        "rows": len(truth),
        "text": best.text.format(before=before, after=float(loss.mean()), rows=len(truth)),
    }


def calibrated(output: np.ndarray, fitted: Mapping[str, Any] | None) -> np.ndarray:
    """Probabilities (rows, classes) after the curve; as they are where there is none. Rows sum to 1."""
    if fitted is None or fitted["method"] == IDENTITY.name:
        return output
    return _BY_NAME[fitted["method"]].apply(_clean(output), fitted["parameters"])


def _clean(output: np.ndarray) -> np.ndarray:
    bounded = np.clip(output.astype("float64"), SMALLEST, 1 - SMALLEST)
    cleaned: np.ndarray = bounded / bounded.sum(axis=1, keepdims=True)
    return cleaned


def _row_losses(truth: np.ndarray, output: np.ndarray) -> np.ndarray:
    said = output[np.arange(len(truth)), truth]
    losses: np.ndarray = -np.log(np.clip(said, SMALLEST, 1.0))
    return losses


def _cross_fitted(method: Method, truth: np.ndarray, output: np.ndarray, parts: np.ndarray) -> np.ndarray:
    made = np.empty_like(output)
    for part in np.unique(parts):
        inside = parts == part
        made[inside] = method.apply(output[inside], method.fit(truth[~inside], output[~inside]))
    return made


def _logit(output: np.ndarray) -> np.ndarray:
    odds: np.ndarray = np.log(output[:, 1]) - np.log(output[:, 0])
    return odds


def _both(second: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - second, second])


def _fit_platt(truth: np.ndarray, output: np.ndarray) -> Parameters:
    """Logistic regression on the log odds by Newton's method, drawn to the identity as by one row of doubt."""
    odds = _logit(output)
    slope, shift = 1.0, 0.0
    for _ in range(50):
        said = expit(slope * odds + shift)
        miss, weight = said - truth, said * (1 - said)
        gradient = np.array([miss @ odds + slope - 1, miss.sum() + shift])
        crossed = weight @ odds
        curvature = np.array([[weight @ odds**2 + 1, crossed], [crossed, weight.sum() + 1]])
        step = np.linalg.solve(curvature, gradient)
        step /= max(1.0, float(np.abs(step).max()))
        slope, shift = slope - float(step[0]), shift - float(step[1])
        if np.abs(step).max() < 1e-8:
            break
    return {"slope": max(slope, 0.01), "shift": shift}


def _apply_platt(output: np.ndarray, given: Parameters) -> np.ndarray:
    return _both(expit(given["slope"] * _logit(output) + given["shift"]))


def _fit_temperature(truth: np.ndarray, output: np.ndarray) -> Parameters:
    logs = np.log(output)
    logs -= logs.max(axis=1, keepdims=True)
    said = float(logs[np.arange(len(truth)), truth].sum())

    def loss(log_temperature: float) -> float:
        temperature = np.exp(log_temperature)
        return float(np.log(np.exp(logs / temperature).sum(axis=1)).sum() - said / temperature)

    found = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded", options={"xatol": 1e-3})
    return {"temperature": float(np.exp(found.x))}


def _apply_temperature(output: np.ndarray, given: Parameters) -> np.ndarray:
    scaled = np.log(output) / given["temperature"]
    made: np.ndarray = np.exp(scaled - logsumexp(scaled, axis=1, keepdims=True))
    return made


def _fit_isotonic(truth: np.ndarray, output: np.ndarray) -> Parameters:
    """A rising curve through the observed shares of at most 200 bins of equal size."""
    order = np.argsort(output[:, 1], kind="stable")
    bins = [part for part in np.array_split(order, min(200, max(2, len(order) // 50))) if len(part)]
    said = np.array([output[part, 1].mean() for part in bins])
    seen = np.array([(truth[part].sum() + 0.5) / (len(part) + 1) for part in bins])
    rising = IsotonicRegression().fit(said, seen, sample_weight=[len(part) for part in bins])
    places = np.unique(said)
    return {"said": places.tolist(), "seen": rising.predict(places).tolist()}


def _apply_isotonic(output: np.ndarray, given: Parameters) -> np.ndarray:
    curve = np.interp(output[:, 1], given["said"], given["seen"])
    return _both((1 - _SLOPE) * curve + _SLOPE * output[:, 1])


def _enough_of_both(fewest: int) -> Callable[[np.ndarray, int], bool]:
    return lambda truth, classes: classes == 2 and bool(np.bincount(truth, minlength=2).min() >= fewest)


IDENTITY = Method(
    "identity",
    lambda truth, classes: True,
    lambda truth, output: {},
    lambda output, given: output,
    "The model's probabilities are used as they are: no calibration lowered the log loss ({before:.4g})"
    " of {rows:,} out-of-fold rows beyond noise.",
)
_CHANGED = (
    " on {rows:,} out-of-fold rows: the log loss of rows left out of the calibration fell"
    " from {before:.4g} to {after:.4g}."
)
METHODS = (
    Method(
        "platt",
        _enough_of_both(MIN_ROWS // 2),
        _fit_platt,
        _apply_platt,
        "Probabilities are calibrated by a logistic curve (Platt)" + _CHANGED,
    ),
    Method(
        "isotonic",
        _enough_of_both(MIN_FOR_STEPS),
        _fit_isotonic,
        _apply_isotonic,
        "Probabilities are calibrated by a rising curve (isotonic)" + _CHANGED,
    ),
    Method(
        "temperature",
        lambda truth, classes: classes > 2 and len(truth) >= MIN_ROWS,
        _fit_temperature,
        _apply_temperature,
        "Probabilities of all classes are calibrated by one temperature" + _CHANGED,
    ),
)
_BY_NAME = {method.name: method for method in METHODS}
