"""Conformal prediction intervals of numbers, fitted on out-of-fold rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.modeling.facts.computation_facts import CoverageJson, PredictionIntervalsJson
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.unit_means import bound_share
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import assign_folds

METHODS = ("constant", "scaled")
"""Intervals of constant width, or scaled by the size of errors at similar predictions."""
LEVELS = (0.5, 0.8, 0.9, 0.95)
DEFAULT_LEVEL = 0.9
"""Level of the intervals in reports and predictions."""
MIN_ROWS = 20
"""With fewer rows there are no intervals: the 95% bounds would be the extremes."""
MIN_ROWS_PER_BIN = 60
"""Three rows lie beyond the 95% bound of a bin."""
MAX_BINS = 20
"""Bins of predictions whose error sizes are measured: at most MAX_BINS, each of at least MIN_ROWS_PER_BIN."""
HALF_LIFE_SHARE, MIN_HALF_LIFE_ROWS = 0.15, 40
"""In time order, the weight of an error halves over this share of the rows, but not faster than over
MIN_HALF_LIFE_ROWS."""


def fit_intervals(
    truth: np.ndarray,
    prediction: np.ndarray,
    folds: np.ndarray | None = None,
    in_order: bool = False,
    seed: int = 0,
    rows_ahead: np.ndarray | None = None,
) -> PredictionIntervalsJson | None:
    """Fit what `predict_interval` needs on out-of-fold rows; None for fewer than MIN_ROWS.

    Errors are scaled by the mean error at similar predictions if that improves the cross-fitted interval score.
    `folds` (rows,); `in_order`: rows are in time order, and the latest errors weigh most. `rows_ahead`: the
    step that each row forecasts; errors are first scaled by the mean error of their step.
    """
    is_finite = np.isfinite(truth) & np.isfinite(prediction)
    truth, prediction = truth[is_finite], prediction[is_finite]
    rows_ahead = None if rows_ahead is None else rows_ahead[is_finite]
    if len(truth) < MIN_ROWS:
        return None
    folds = assign_folds(len(truth), None if folds is None else folds[is_finite], seed)
    weights = _weights(len(truth), in_order)
    intervals = {name: _cross_fit(truth, prediction, folds, weights, name, rows_ahead) for name in METHODS}
    loss = {name: _interval_score(truth, low, high) for name, (low, high) in intervals.items()}
    gain = loss["constant"] - loss["scaled"]
    method = "scaled" if gain.mean() > gain.std() / np.sqrt(len(gain)) else "constant"
    is_covered = (truth >= intervals[method][0]) & (truth <= intervals[method][1])
    fitted = _fit(truth, prediction, weights, method, rows_ahead)
    return {
        "method": method,
        "predictions": fitted["predictions"],
        "scales": fitted["scales"],
        "errors": fitted["errors"],
        "steps": fitted["steps"],
        "step_scales": fitted["step_scales"],
        "level": DEFAULT_LEVEL,
        "lowest": 0.0 if _is_never_negative(truth, in_order) else None,
        "coverage": round_significant(float(is_covered.mean())) or 0.0,
        "rows": len(truth),
        "text": _text(method, in_order, len(truth), rows_ahead is not None),
    }


def _is_never_negative(truth: np.ndarray, in_order: bool) -> bool:
    """Return true for a target, such as a price or a count, whose intervals end at zero.

    Rows without an order are like those to come, so that none of them below zero suffices. In time order a
    level may fall (temperatures of one summer): the target must have reached zero, but never less.
    """
    return bool(truth.min() >= 0 and (not in_order or (truth == 0).any()))


def predict_interval(
    prediction: np.ndarray,
    fitted: Mapping[str, Any],
    level: float | None = None,
    rows_ahead: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds (rows,) that hold the truth with the probability `level`.

    `level` is one of LEVELS, by default the fitted one. `rows_ahead` as in `fit_intervals`.
    """
    lower, upper = fitted["errors"][str(level or fitted["level"])]
    scale = np.interp(prediction, fitted["predictions"], fitted["scales"])
    if rows_ahead is not None and fitted.get("steps"):
        scale = scale * np.interp(rows_ahead, fitted["steps"], fitted["step_scales"])
    low, high = prediction + lower * scale, prediction + upper * scale
    if fitted.get("lowest") is not None:
        low, high = np.maximum(low, fitted["lowest"]), np.maximum(high, fitted["lowest"])
    return low, high


def measure_coverage(
    truth: np.ndarray,
    prediction: np.ndarray,
    fitted: Mapping[str, Any],
    rows_ahead: np.ndarray | None = None,
    units: IndependentUnits | None = None,
) -> CoverageJson:
    """The share of rows inside their interval with its own 95% interval, and the median width.

    `units`: those of the rows, see `find_units`; None for single rows. A share of a single unit has no bounds.
    """
    low, high = predict_interval(prediction, fitted, rows_ahead=rows_ahead)
    is_covered, rows = (truth >= low) & (truth <= high), len(truth)
    lowest, highest = bound_share(is_covered, (units or IndependentUnits.of_rows(rows)).unit_of_row)
    return {
        "level": float(fitted["level"]),
        "coverage": {
            "value": round_significant(float(is_covered.mean())),
            "low": round_significant(lowest),
            "high": round_significant(highest),
        },
        "width": round_significant(float(np.median(high - low))),
        "rows": rows,
    }


def _weights(rows: int, in_order: bool) -> np.ndarray:
    if not in_order:
        return np.ones(rows)
    weights: np.ndarray = 0.5 ** (np.arange(rows)[::-1] / max(HALF_LIFE_SHARE * rows, MIN_HALF_LIFE_ROWS))
    return weights


def _fit(
    truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray, method: str, rows_ahead: np.ndarray | None
) -> dict[str, Any]:
    error = truth - prediction
    steps, step_scales = _step_scales(error, rows_ahead)
    if rows_ahead is not None:
        error = error / np.interp(rows_ahead, steps, step_scales)
    positions, scales = _scales(error, prediction) if method == "scaled" else (np.zeros(1), np.ones(1))
    relative = error / np.interp(prediction, positions, scales)
    order = np.argsort(relative, kind="stable")
    return {
        "predictions": positions.tolist(),
        "scales": scales.tolist(),
        "errors": {str(level): _bounds(relative[order], weights[order], level) for level in LEVELS},
        "steps": steps.tolist(),
        "step_scales": step_scales.tolist(),
    }


def _step_scales(error: np.ndarray, rows_ahead: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and the mean size of their errors relative to that of all."""
    if rows_ahead is None:
        return np.zeros(0), np.zeros(0)
    steps = np.unique(rows_ahead)
    overall = max(_spread(error), 1e-12)
    # At least a twentieth: a step whose few errors are equal would get intervals without width.
    return steps, np.array([max(_spread(error[rows_ahead == step]) / overall, 0.05) for step in steps])


def _scales(error: np.ndarray, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bins of predictions, and the mean size of their errors, at least a twentieth of that of all."""
    overall = max(_spread(error), 1e-12)
    order = np.argsort(prediction, kind="stable")
    bins = np.array_split(order, int(np.clip(len(order) // MIN_ROWS_PER_BIN, 1, MAX_BINS)))
    positions = np.array([prediction[rows].mean() for rows in bins])
    scales = np.array([max(_spread(error[rows]), 0.05 * overall) for rows in bins])
    # np.interp needs rising positions, and equal predictions fill several bins.
    is_new = np.append(True, np.diff(positions) > 0)
    return positions[is_new], scales[is_new]


def _spread(error: np.ndarray) -> float:
    return float(np.abs(error - np.median(error)).mean())


def _bounds(sorted_errors: np.ndarray, weights: np.ndarray, level: float) -> list[float]:
    """Quantiles of the errors with the finite-sample correction of split conformal prediction.

    A new row counts as one more error on either side, with the largest weight.
    """
    tail = (1 - level) / 2
    cumulative = np.cumsum(weights) / (weights.sum() + weights.max())
    upper = min(int(np.searchsorted(cumulative, 1 - tail)), len(sorted_errors) - 1)
    reversed_cumulative = np.cumsum(weights[::-1]) / (weights.sum() + weights.max())
    lower = min(int(np.searchsorted(reversed_cumulative, 1 - tail)), len(sorted_errors) - 1)
    return [float(sorted_errors[::-1][lower]), float(sorted_errors[upper])]


def _cross_fit(
    truth: np.ndarray,
    prediction: np.ndarray,
    folds: np.ndarray,
    weights: np.ndarray,
    method: str,
    rows_ahead: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.empty(len(truth)), np.empty(len(truth))
    for fold in np.unique(folds):
        in_fold = folds == fold
        test_steps, train_steps = (
            (None, None) if rows_ahead is None else (rows_ahead[in_fold], rows_ahead[~in_fold])
        )
        fitted = _fit(truth[~in_fold], prediction[~in_fold], weights[~in_fold], method, train_steps)
        low[in_fold], high[in_fold] = predict_interval(prediction[in_fold], fitted, DEFAULT_LEVEL, test_steps)
    return low, high


def _interval_score(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Width plus a penalty for each miss (Winkler 1972): lowest for the true quantiles."""
    penalty = 2 / (1 - DEFAULT_LEVEL)
    score: np.ndarray = high - low + penalty * (np.maximum(low - truth, 0) + np.maximum(truth - high, 0))
    return score


def _text(method: str, in_order: bool, rows: int, is_per_step: bool) -> str:
    width_text = (
        "scale with the mean error at similar predictions" if method == "scaled" else "have a constant width"
    )
    weighting = "; the latest errors weigh most" if in_order else ""
    width_text += ", scaled by the errors of each step ahead" if is_per_step else ""
    source = f"from the errors of {rows:,} out-of-fold rows{weighting}"
    return f"{DEFAULT_LEVEL:.0%} prediction intervals {width_text}, {source}."
