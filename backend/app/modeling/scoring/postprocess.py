"""Postprocessing of predictions, fitted on out-of-fold rows: calibration, threshold, prediction intervals."""

from typing import Any

import numpy as np

from app.modeling.problem.problem import Problem
from app.modeling.scoring.calibration import apply_calibration, fit_calibration
from app.modeling.scoring.prediction_intervals import fit_intervals
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import choose_threshold, threshold_aim

POSTPROCESS_KEYS = ("calibration", "threshold", "threshold_text", "prediction_intervals")
"""Keys of `FitFacts` that postprocessing sets."""


def postprocess(
    truth: np.ndarray,
    output: np.ndarray,
    folds: np.ndarray,
    problem: Problem,
    seed: int = 0,
    rows_ahead: np.ndarray | None = None,
) -> dict[str, Any]:
    """Fit `calibration`, `threshold` with its text, and `prediction_intervals`; None where one does not apply.

    `folds`: the fold of each row; `rows_ahead`: the step that each row forecasts, if they differ. Rows are in
    the order of the training frame, which is that of time.
    """
    fitted: dict[str, Any] = dict.fromkeys(POSTPROCESS_KEYS)
    if not problem.is_classification:
        is_ordered = problem.time_column is not None
        fitted["prediction_intervals"] = fit_intervals(truth, output, folds, is_ordered, seed, rows_ahead)
        return fitted
    fitted["calibration"] = fit_calibration(truth, output, folds=folds, seed=seed)
    if problem.is_binary:
        predicted = Predicted(truth, apply_calibration(output, fitted["calibration"]), problem.positive_index)
        threshold = choose_threshold(predicted, threshold_aim(problem), problem.costs)
        fitted |= {"threshold": threshold["value"], "threshold_text": threshold["text"]}
    return fitted
