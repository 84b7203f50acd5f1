"""Conformal prediction intervals of numbers, fitted on out-of-fold rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

from app.modeling.facts.computation_facts import CoverageJson, Interval
from app.modeling.facts.interval_facts import PredictionIntervalsJson
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.proportional_errors import ProportionalErrors, bound_errors
from app.modeling.scoring.unit_means import bound_share
from app.modeling.table.json_values import round_significant
from app.modeling.table.sampling import assign_folds

CONSTANT, SCALED, PROPORTIONAL = "constant", "scaled", "proportional"
"""Methods: intervals of constant width, scaled by the size of errors at similar predictions, or in proportion
to the prediction, see `proportional_errors`."""
LEVELS = (0.5, 0.8, 0.9, 0.95)
DEFAULT_LEVEL = 0.9
"""Level of the intervals in reports and predictions."""
MIN_ROWS = 20
"""With fewer rows there are no intervals: the 95% bounds would be the extremes."""
MIN_ROWS_PER_BIN = 25
"""Rows of a bin, whose mean error is then known to about 15 %. With more of them the errors of the largest of
few predictions pass for those of medium ones: of 200 skewed rows intervals held 64 % of the largest tenth (60
rows a bin) or 83 % (25)."""
MIN_INDEPENDENT = 2.0
"""Independent errors at least: of fewer Student's t has no spread."""
MAX_WIDENING = 4.0
"""Largest factor by which the hold-out widens intervals: larger errors tell of another time, not of a width."""
MAX_BINS = 20
"""Bins of predictions whose error sizes are measured: at most MAX_BINS, each of at least MIN_ROWS_PER_BIN."""
HALF_LIFE_SHARE, MIN_HALF_LIFE_ROWS = 0.15, 40
"""In time order, the weight of an error halves over this share of the rows, but not faster than over
MIN_HALF_LIFE_ROWS, which are rows that forecasts start from where each is repeated for its steps."""


def fit_intervals(
    truth: np.ndarray,
    prediction: np.ndarray,
    folds: np.ndarray | None = None,
    in_order: bool = False,
    seed: int = 0,
    rows_ahead: np.ndarray | None = None,
) -> PredictionIntervalsJson | None:
    """Fit what `predict_interval` needs on out-of-fold rows; None for fewer than MIN_ROWS.

    The cross-fitted interval score chooses the method: constant where others gain no more than noise.
    `folds` (rows,); `in_order`: rows are in time order, and the latest errors weigh most. `rows_ahead`: the
    step that each row forecasts; errors are first scaled by the mean error of their step.
    """
    is_finite = np.isfinite(truth) & np.isfinite(prediction)
    truth, prediction = truth[is_finite], prediction[is_finite]
    rows_ahead = None if rows_ahead is None else rows_ahead[is_finite]
    if len(truth) < MIN_ROWS:
        return None
    folds = assign_folds(len(truth), None if folds is None else folds[is_finite], seed)
    weights = _weights(len(truth), in_order, _rows_per_origin(rows_ahead))
    lowest = 0.0 if _is_never_negative(truth, in_order) else None
    methods = [CONSTANT, SCALED]
    # Steps ahead have a scale of their own, by which errors are not in proportion to predictions.
    if lowest is not None and rows_ahead is None and (prediction > 0).any():
        methods.append(PROPORTIONAL)
    intervals = {
        name: _cross_fit(truth, prediction, folds, weights, name, rows_ahead, lowest) for name in methods
    }
    method = _choose_method({name: _interval_score(truth, *bounds) for name, bounds in intervals.items()})
    is_covered = (truth >= intervals[method][0]) & (truth <= intervals[method][1])
    fitted = _fit(truth, prediction, weights, method, rows_ahead)
    return {
        "method": method,
        "predictions": fitted["predictions"],
        "scales": fitted["scales"],
        "errors": fitted["errors"],
        "steps": fitted["steps"],
        "step_scales": fitted["step_scales"],
        "proportional": fitted["proportional"],
        "level": DEFAULT_LEVEL,
        "lowest": lowest,
        "coverage": round_significant(float(is_covered.mean())) or 0.0,
        "rows": len(truth),
        "text": _text(method, in_order, len(truth), rows_ahead is not None),
    }


def _choose_method(losses: Mapping[str, np.ndarray]) -> str:
    """Choose constant widths unless another method gains more than noise; of these scaled ones only where
    bounds in proportion, which hold as many of the largest values as of others, lose more than noise."""
    chain = [name for name in (PROPORTIONAL, SCALED) if name in losses]
    better = [name for name in chain if _is_beyond_noise(losses[CONSTANT] - losses[name])]
    if len(better) > 1 and _is_beyond_noise(losses[PROPORTIONAL] - losses[SCALED]):
        return SCALED
    return better[0] if better else CONSTANT


def _is_beyond_noise(gain: np.ndarray) -> bool:
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))


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
    name = str(level or fitted["level"])
    if proportional := fitted.get("proportional"):
        low, high = ProportionalErrors.from_json(proportional).bounds(prediction, name)
    else:
        lower, upper = fitted["errors"][name]
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
    bounds = predict_interval(prediction, fitted, rows_ahead=rows_ahead)
    return measure_bounds(truth, prediction, bounds, float(fitted["level"]), units)


def measure_bounds(
    truth: np.ndarray,
    prediction: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    level: float,
    units: IndependentUnits | None = None,
) -> CoverageJson:
    """Measure the share of rows between their bounds, which are made to hold the share `level`."""
    low, high = bounds
    is_covered, rows = (truth >= low) & (truth <= high), len(truth)
    lowest, highest = bound_share(is_covered, (units or IndependentUnits.of_rows(rows)).unit_of_row)
    share: Interval = {
        "value": round_significant(float(is_covered.mean())),
        "low": round_significant(lowest),
        "high": round_significant(highest),
    }
    # Beyond chance only: a factor that follows chance would be as wrong as none.
    is_too_narrow = float(is_covered.mean()) < level and misses_level(share, level)
    widening = _find_widening(truth, prediction, low, high, level) if is_too_narrow else None
    measured: CoverageJson = {
        "level": level,
        "coverage": share,
        "width": round_significant(float(np.median(high - low))),
        "rows": rows,
    }
    if widening is not None:
        measured["widening"] = widening
    return measured


def misses_level(share: Interval, level: float) -> bool:
    """Test if a share of rows inside their intervals is off their level beyond chance, and by two points."""
    value, low, high = share["value"], share["low"], share["high"]
    # Two points are no news to anyone, even where many rows prove them.
    if value is None or low is None or high is None or abs(value - level) < 0.02:
        return False
    # The bounds come from a sample as well, so their error is as large as that of the share measured here.
    tolerance = np.sqrt(2) * ((high - value) if value < level else (value - low))
    return bool(abs(value - level) > tolerance)


def _find_widening(
    truth: np.ndarray, prediction: np.ndarray, low: np.ndarray, high: np.ndarray, level: float
) -> float:
    """Return the factor by which bounds must lie further out to hold the share `level` of these rows."""
    reach = np.where(truth >= prediction, high - prediction, prediction - low)
    factors = np.abs(truth - prediction) / np.maximum(reach, 1e-12)
    return round(float(np.clip(np.quantile(factors, level), 1.0, MAX_WIDENING)), 3)


def widen_intervals(fitted: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return fitted intervals with bounds that lie further out by a factor, which their text tells."""
    errors = {level: [factor * bound for bound in bounds] for level, bounds in fitted["errors"].items()}
    reason = f"They are wider by a factor of {factor:.3g}, since they held too few rows of the hold-out."
    widened = {**fitted, "errors": errors, "text": f"{fitted['text']} {reason}"}
    if proportional := fitted.get("proportional"):
        widened["proportional"] = ProportionalErrors.from_json(proportional).widen(factor).to_json()
    return widened


def _rows_per_origin(rows_ahead: np.ndarray | None) -> float:
    """Return the mean number of rows that forecast from one origin: its steps rise from row to row."""
    if rows_ahead is None or len(rows_ahead) < 2:
        return 1.0
    return len(rows_ahead) / (1 + int((np.diff(rows_ahead) <= 0).sum()))


def _weights(rows: int, in_order: bool, rows_per_origin: float = 1.0) -> np.ndarray:
    if not in_order:
        return np.ones(rows)
    half_life = max(HALF_LIFE_SHARE * rows, MIN_HALF_LIFE_ROWS * rows_per_origin)
    weights: np.ndarray = 0.5 ** (np.arange(rows)[::-1] / half_life)
    return weights


def _independent_count(error: np.ndarray, weights: np.ndarray, rows_ahead: np.ndarray) -> float:
    """Return the number of independent errors, the median over the steps.

    Forecasts of neighbouring origins share most of their future, so that their errors are alike: those of walks
    far ahead are all but the same, those of a fixed level are not.
    """
    counts = []
    for step in np.unique(rows_ahead):
        at = rows_ahead == step
        errors, step_weights = error[at], weights[at]
        before, after = errors[:-1], errors[1:]
        size = float(np.sqrt((before**2).sum() * (after**2).sum()))
        correlation = max(0.0, float((before * after).sum()) / size) if size else 0.0
        # Kish's number of rows that tell as much as rows of these weights.
        rows = float(step_weights.sum()) ** 2 / float((step_weights**2).sum())
        counts.append(max(MIN_INDEPENDENT, rows * (1 - correlation) / (1 + correlation)))
    return float(np.median(counts))


def _widening(level: float, independent: float | None) -> float:
    """Return the factor by which bounds of few independent errors lie further out (Student's t)."""
    if independent is None:
        return 1.0
    tail = (1 + level) / 2
    return float(stats.t.ppf(tail, independent) / stats.norm.ppf(tail))


def _fit(
    truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray, method: str, rows_ahead: np.ndarray | None
) -> dict[str, Any]:
    error = truth - prediction
    steps, step_scales = _step_scales(error, rows_ahead)
    proportional = None
    if method == PROPORTIONAL:
        proportional = ProportionalErrors.fit(truth, prediction, weights, LEVELS).to_json()
    independent = None
    if rows_ahead is not None:
        error = error / np.interp(rows_ahead, steps, step_scales)
        independent = _independent_count(error, weights, rows_ahead)
    positions, scales = _scales(error, prediction) if method == SCALED else (np.zeros(1), np.ones(1))
    relative = error / np.interp(prediction, positions, scales)
    order = np.argsort(relative, kind="stable")
    return {
        "predictions": positions.tolist(),
        "scales": scales.tolist(),
        "errors": {
            str(level): [
                _widening(level, independent) * bound
                for bound in _central_bounds(relative[order], weights[order], level)
            ]
            for level in LEVELS
        },
        "steps": steps.tolist(),
        "step_scales": step_scales.tolist(),
        "proportional": proportional,
    }


def _central_bounds(sorted_errors: np.ndarray, weights: np.ndarray, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    return bound_errors(sorted_errors, weights, tail, tail)


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


def _cross_fit(
    truth: np.ndarray,
    prediction: np.ndarray,
    folds: np.ndarray,
    weights: np.ndarray,
    method: str,
    rows_ahead: np.ndarray | None,
    lowest: float | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of each row by the other folds, within those of the target, as they are delivered."""
    low, high = np.empty(len(truth)), np.empty(len(truth))
    for fold in np.unique(folds):
        in_fold = folds == fold
        test_steps, train_steps = (
            (None, None) if rows_ahead is None else (rows_ahead[in_fold], rows_ahead[~in_fold])
        )
        fitted = _fit(truth[~in_fold], prediction[~in_fold], weights[~in_fold], method, train_steps)
        fitted["lowest"] = lowest
        low[in_fold], high[in_fold] = predict_interval(prediction[in_fold], fitted, DEFAULT_LEVEL, test_steps)
    return low, high


def _interval_score(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Width plus a penalty for each miss (Winkler 1972): lowest for the true quantiles."""
    penalty = 2 / (1 - DEFAULT_LEVEL)
    score: np.ndarray = high - low + penalty * (np.maximum(low - truth, 0) + np.maximum(truth - high, 0))
    return score


_WIDTHS = {
    CONSTANT: "have a constant width",
    SCALED: "scale with the mean error at similar predictions",
    PROPORTIONAL: "grow in proportion to the prediction, by the errors at similar predictions",
}
"""Method -> its intervals in words."""


def _text(method: str, in_order: bool, rows: int, is_per_step: bool) -> str:
    width_text = _WIDTHS[method]
    weighting = "; the latest errors weigh most" if in_order else ""
    width_text += ", scaled by the errors of each step ahead" if is_per_step else ""
    source = f"from the errors of {rows:,} out-of-fold rows{weighting}"
    return f"{DEFAULT_LEVEL:.0%} prediction intervals {width_text}, {source}."
