"""How far a number may lie from its prediction: conformal intervals from rows that did not teach the model."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.modeling.problem.results import CoverageJson, PredictionIntervalsJson
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import assign_folds

METHODS = ("constant", "scaled")
LEVELS = (0.5, 0.8, 0.9, 0.95)
USUAL = 0.9
MIN_ROWS = 20
ROWS_A_BIN = 60
MAX_BINS = 20
HALF_LIFE, MIN_LIFE = 0.15, 40
"""In time order: the share of the rows after which an error weighs half as much, and the fewest rows."""


def fit_intervals(
    truth: np.ndarray,
    prediction: np.ndarray,
    parts: np.ndarray | None = None,
    in_order: bool = False,
    seed: int = 0,
    ahead: np.ndarray | None = None,
) -> PredictionIntervalsJson | None:
    """What `interval_of` needs, from rows that did not teach the model; None for fewer than 20.

    Errors are divided by the usual size of errors at predictions like theirs where that gives better intervals
    (by the interval score, cross-fitted), else taken as they are. `parts` names rows that were judged together;
    `in_order`: rows lie in time order, and the latest errors weigh most. `ahead`: how many rows ahead each asks
    about; errors are then divided by the usual size of errors so far ahead, first.
    """
    known = np.isfinite(truth) & np.isfinite(prediction)
    truth, prediction = truth[known], prediction[known]
    ahead = None if ahead is None else ahead[known]
    if len(truth) < MIN_ROWS:
        return None
    parts = assign_folds(len(truth), None if parts is None else parts[known], seed)
    weights = _weights(len(truth), in_order)
    tried = {name: _cross_fitted(truth, prediction, parts, weights, name, ahead) for name in METHODS}
    loss = {name: _interval_score(truth, low, high) for name, (low, high) in tried.items()}
    gain = loss["constant"] - loss["scaled"]
    method = "scaled" if gain.mean() > gain.std() / np.sqrt(len(gain)) else "constant"
    inside = (truth >= tried[method][0]) & (truth <= tried[method][1])
    fitted = _fit(truth, prediction, weights, method, ahead)
    return {
        "method": method,
        "predictions": fitted["predictions"],
        "scales": fitted["scales"],
        "errors": fitted["errors"],
        "steps": fitted["steps"],
        "step_scales": fitted["step_scales"],
        "level": USUAL,
        "lowest": 0.0 if truth.min() >= 0 else None,
        "coverage": round_significant(float(inside.mean())) or 0.0,
        "rows": len(truth),
        "text": _text(method, in_order, len(truth), ahead is not None),
    }


def interval_of(
    prediction: np.ndarray,
    fitted: Mapping[str, Any],
    level: float | None = None,
    ahead: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (rows,) between which the truth lies with the level's probability.

    `level` is one of `LEVELS`; the usual one is 0.9. `ahead` as they were fitted with.
    """
    below, above = fitted["errors"][str(level or fitted["level"])]
    scale = np.interp(prediction, fitted["predictions"], fitted["scales"])
    if ahead is not None and fitted.get("steps"):
        scale = scale * np.interp(ahead, fitted["steps"], fitted["step_scales"])
    low, high = prediction + below * scale, prediction + above * scale
    if fitted.get("lowest") is not None:
        low, high = np.maximum(low, fitted["lowest"]), np.maximum(high, fitted["lowest"])
    return low, high


def coverage(
    truth: np.ndarray, prediction: np.ndarray, fitted: Mapping[str, Any], ahead: np.ndarray | None = None
) -> CoverageJson:
    """How many of these rows lie in their interval, with Wilson's 95% interval, and how wide they are."""
    low, high = interval_of(prediction, fitted, ahead=ahead)
    share, rows = float(((truth >= low) & (truth <= high)).mean()), len(truth)
    middle = (share + 1.96**2 / (2 * rows)) / (1 + 1.96**2 / rows)
    reach = 1.96 / (1 + 1.96**2 / rows) * np.sqrt(share * (1 - share) / rows + 1.96**2 / (4 * rows**2))
    return {
        "level": float(fitted["level"]),
        "coverage": {
            "value": round_significant(share),
            "low": round_significant(middle - reach),
            "high": round_significant(middle + reach),
        },
        "width": round_significant(float(np.median(high - low))),
        "rows": rows,
    }


def _weights(rows: int, in_order: bool) -> np.ndarray:
    if not in_order:
        return np.ones(rows)
    weights: np.ndarray = 0.5 ** (np.arange(rows)[::-1] / max(HALF_LIFE * rows, MIN_LIFE))
    return weights


def _fit(
    truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray, method: str, ahead: np.ndarray | None
) -> dict[str, Any]:
    error = truth - prediction
    steps, step_scales = _step_scales(error, ahead)
    if ahead is not None:
        error = error / np.interp(ahead, steps, step_scales)
    places, scales = _scales(error, prediction) if method == "scaled" else (np.zeros(1), np.ones(1))
    relative = error / np.interp(prediction, places, scales)
    order = np.argsort(relative, kind="stable")
    return {
        "predictions": places.tolist(),
        "scales": scales.tolist(),
        "errors": {str(level): _bounds(relative[order], weights[order], level) for level in LEVELS},
        "steps": steps.tolist(),
        "step_scales": step_scales.tolist(),
    }


def _step_scales(error: np.ndarray, ahead: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean size of errors so many rows ahead, beside that of all."""
    if ahead is None:
        return np.zeros(0), np.zeros(0)
    steps = np.unique(ahead)
    overall = max(_spread(error), 1e-12)
    return steps, np.array([max(_spread(error[ahead == step]) / overall, 0.05) for step in steps])


def _scales(error: np.ndarray, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean size of errors by bins of predictions, none below a twentieth of the mean of all."""
    overall = max(_spread(error), 1e-12)
    order = np.argsort(prediction, kind="stable")
    bins = np.array_split(order, int(np.clip(len(order) // ROWS_A_BIN, 1, MAX_BINS)))
    places = np.array([prediction[part].mean() for part in bins])
    scales = np.array([max(_spread(error[part]), 0.05 * overall) for part in bins])
    different = np.append(True, np.diff(places) > 0)
    return places[different], scales[different]


def _spread(error: np.ndarray) -> float:
    return float(np.abs(error - np.median(error)).mean())


def _bounds(sorted_errors: np.ndarray, weights: np.ndarray, level: float) -> list[float]:
    """Quantiles of the errors with the finite-sample correction of split conformal prediction.

    A new row counts as one more error on either side, as heavy as the latest.
    """
    tail = (1 - level) / 2
    reached = np.cumsum(weights) / (weights.sum() + weights.max())
    upper = min(int(np.searchsorted(reached, 1 - tail)), len(sorted_errors) - 1)
    fallen = np.cumsum(weights[::-1]) / (weights.sum() + weights.max())
    lower = min(int(np.searchsorted(fallen, 1 - tail)), len(sorted_errors) - 1)
    return [float(sorted_errors[::-1][lower]), float(sorted_errors[upper])]


def _cross_fitted(
    truth: np.ndarray,
    prediction: np.ndarray,
    parts: np.ndarray,
    weights: np.ndarray,
    method: str,
    ahead: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.empty(len(truth)), np.empty(len(truth))
    for part in np.unique(parts):
        inside = parts == part
        asked, taught = (None, None) if ahead is None else (ahead[inside], ahead[~inside])
        fitted = _fit(truth[~inside], prediction[~inside], weights[~inside], method, taught)
        low[inside], high[inside] = interval_of(prediction[inside], fitted, USUAL, asked)
    return low, high


def _interval_score(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Width plus a fine for each miss (Winkler): lowest for the true quantiles."""
    fine = 2 / (1 - USUAL)
    score: np.ndarray = high - low + fine * (np.maximum(low - truth, 0) + np.maximum(truth - high, 0))
    return score


def _text(method: str, in_order: bool, rows: int, by_step: bool) -> str:
    how = (
        "grow with the usual error at such predictions" if method == "scaled" else "are equally wide everywhere"
    )
    latest = "; the latest errors weigh most" if in_order else ""
    how += ", and with every step ahead by its own errors" if by_step else ""
    return f"{USUAL:.0%} prediction intervals {how}, from the errors of {rows:,} out-of-fold rows{latest}."
