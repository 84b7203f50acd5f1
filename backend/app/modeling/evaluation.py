"""How good a model is on rows that did not teach it, with how sure that is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.curves import calibration, confusion, per_class, precision_recall_curve, residuals, roc_curve
from app.modeling.intervals import bootstrap, resampling
from app.modeling.problem import Problem
from app.modeling.results import EvaluationFacts, Interval
from app.modeling.scores import SCORES, Predicted, score_all


def evaluate(
    predicted: Predicted,
    baseline: Predicted,
    problem: Problem,
    on: str,
    seed: int = 0,
    cv: Mapping[str, Any] | None = None,
    groups: pd.Series | None = None,
) -> EvaluationFacts:
    """Everything that is said of a model on these rows; `cv` is its `FitFacts`, to compare with.

    `baseline` is the naive model's word on the same rows; `groups` names rows that belong together.
    """
    how = resampling(len(predicted.truth), problem, groups)
    metrics, difference = bootstrap(predicted, baseline, problem, how, seed)
    low = difference["low"]
    beats = low is not None and low > 0
    agrees = _agrees(metrics[problem.metric], cv) if cv else None
    is_binary = problem.is_binary
    return {
        "on": on,
        "model": cv.get("name") if cv else None,
        "rows": len(predicted.truth),
        "metric": problem.metric,
        "metrics": metrics,
        "interval_method": how.method,
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
        "cv_score": cv.get("score") if cv else None,
        "agrees_with_cv": agrees,
        "notes": _notes(metrics[problem.metric], beats, agrees, problem, cv, len(predicted.truth)),
        "figures": [],
    }


def _agrees(held: Interval, cv: Mapping[str, Any]) -> bool | None:
    """Whether the two scores differ by no more than the interval and the folds' own spread explain."""
    if held["value"] is None or cv.get("score") is None or held["low"] is None or held["high"] is None:
        return None
    scores = [score for score in cv["fold_scores"] if score is not None]
    standard_error = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
    reach = np.hypot((held["high"] - held["low"]) / 2, 2 * standard_error)
    return bool(abs(held["value"] - cv["score"]) <= reach)


def _notes(
    held: Interval,
    beats: bool,
    agrees: bool | None,
    problem: Problem,
    cv: Mapping[str, Any] | None,
    rows: int,
) -> list[str]:
    notes = []
    if not beats:
        notes.append("It does not beat the naive baseline beyond chance on these rows.")
    if agrees is False and cv and held["value"] is not None:
        better = (held["value"] > cv["score"]) == SCORES[problem.metric].greater_is_better
        notes.append(
            f"The {problem.metric} here ({held['value']:.4g}) is {'better' if better else 'worse'} than in"
            f" cross-validation ({cv['score']:.4g}) beyond what chance explains."
        )
    if rows < 100:
        notes.append(f"Only {rows} rows were judged, so every figure here is rough.")
    return notes
