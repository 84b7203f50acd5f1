"""How good a model is on rows that did not teach it, with how sure that is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.judging.judgement import held_against, notes_on
from app.modeling.judging.periods import Past, periods_of, widened
from app.modeling.problem.problem import Problem
from app.modeling.problem.results import CoverageJson, EvaluationFacts
from app.modeling.scoring.curves import (
    calibration,
    confusion,
    per_class,
    precision_recall_curve,
    residuals,
    roc_curve,
)
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.prediction_intervals import measure_coverage
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.table.json_values import round_significant


def evaluate(
    predicted: Predicted,
    baseline: Predicted,
    problem: Problem,
    on: str,
    seed: int = 0,
    fit: Mapping[str, Any] | None = None,
    groups: pd.Series | None = None,
    compare: bool = False,
    past: Past | None = None,
    targets: np.ndarray | None = None,
    ahead: np.ndarray | None = None,
) -> EvaluationFacts:
    """Everything that is said of a model on these rows; `fit` is its `FitFacts`.

    `baseline` is the naive model's word on the same rows; `groups` names rows that belong together. With
    `compare` the rows are new, and the fit's cross-validated score is held against them. `past` and `targets`
    (what was to be told, where that is not the labels) say how much the score may be another in coming periods.
    `ahead`: how many rows ahead each row asks about, where they differ in that.
    """
    how = make_resampling(len(predicted.truth), problem, groups)
    metrics, difference = bootstrap(predicted, baseline, problem, how, seed)
    method, fit = how.method, fit or {}
    agreement = held_against(metrics[problem.metric], fit) if compare else None
    periods = None
    if problem.time_column:
        periods = periods_of(predicted, problem, metrics[problem.metric], past, targets)
    if periods and periods.spread:
        metrics[problem.metric] = widened(metrics[problem.metric], periods, problem.metric)
        method += f"; that of {problem.metric} is widened by how much it moved from period to period"
    beats = difference["low"] is not None and difference["low"] > 0
    is_binary = problem.is_binary
    reached = _reached(predicted, fit, ahead)
    return {
        "on": on,
        "model": fit.get("name"),
        "rows": len(predicted.truth),
        "metric": problem.metric,
        "metrics": metrics,
        "interval_method": method,
        "periods": [round_significant(score) for score in periods.scores] if periods else [],
        "baseline": score_all(baseline, problem),
        "beats_baseline": beats,
        "baseline_difference": difference,
        "threshold": predicted.threshold if is_binary else None,
        "confusion": confusion(predicted, problem) if problem.is_classification else None,
        "per_class": per_class(predicted, problem) if problem.is_classification else [],
        "roc": roc_curve(predicted) if is_binary else None,
        "precision_recall": precision_recall_curve(predicted) if is_binary else None,
        "calibration": calibration(predicted) if is_binary else None,
        "residuals": None if problem.is_classification else residuals(predicted),
        "intervals": reached,
        "cv_score": fit.get("score") if compare else None,
        "agrees_with_cv": agreement.agrees if agreement else None,
        "notes": notes_on(predicted, problem, metrics, difference, agreement, periods, reached),
        "figures": [],
    }


def _reached(predicted: Predicted, fit: Mapping[str, Any], ahead: np.ndarray | None) -> CoverageJson | None:
    """How many rows lie within the model's prediction intervals."""
    fitted = fit.get("prediction_intervals")
    return measure_coverage(predicted.truth, predicted.output, fitted, ahead) if fitted else None
