"""Evaluation of a model on rows that it was not trained on, with confidence intervals."""

from dataclasses import replace

import numpy as np

from app.modeling.evaluation.period_variation import Past, analyse_periods, widen_interval
from app.modeling.evaluation.score_notes import compare_with_cv, score_notes
from app.modeling.evaluation.single_periods import analyse_single_period
from app.modeling.facts.computation_facts import CoverageJson, EvaluationFacts
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.curves import (
    calibration,
    confusion,
    per_class,
    precision_recall_curve,
    residuals,
    roc_curve,
)
from app.modeling.scoring.family_intervals import confidence_level, widen_for_looks
from app.modeling.scoring.independent_units import IndependentUnits, units_in_order
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.prediction_intervals import measure_coverage
from app.modeling.scoring.scores import Predicted, score_all
from app.modeling.table.json_values import round_significant


def evaluate_predictions(
    predicted: Predicted,
    baseline: Predicted,
    problem: Problem,
    on: str,
    seed: int = 0,
    fit: CandidateFit | None = None,
    units: IndependentUnits | None = None,
    compare: bool = False,
    past: Past | None = None,
    targets: np.ndarray | None = None,
    ahead: np.ndarray | None = None,
    looks: int = 1,
    interval_coverage: CoverageJson | None = None,
) -> EvaluationFacts:
    """Compute every metric, curve and note of a model on these rows; `fit` is its `FitFacts`.

    `baseline`: the naive model's predictions for the same rows; `units`: those of the rows, see `find_units`.
    With `compare` the rows are new, and the score is compared with the cross-validated one. `past`
    and `targets` (the prediction targets, if they are not the labels) estimate how much the score varies
    between periods. `ahead`: the rows ahead that each row predicts, if rows are expanded by step.
    `looks`: looks at these rows so far, for which the intervals hold together. `interval_coverage`: of
    prediction intervals that are not those of `fit`.
    """
    units = units or units_in_order(len(predicted.truth), problem)
    resample = make_resampling(units)
    metrics, difference = bootstrap(predicted, baseline, problem, resample, seed)
    method = resample.method
    # Before the interval is widened: the question is if chance on these very rows explains the difference.
    agreement = compare_with_cv(metrics[problem.metric], fit, len(predicted.truth)) if compare and fit else None
    periods = None
    if problem.time_column:
        score = metrics[problem.metric]
        if past and past.periods:
            periods = analyse_single_period(predicted, problem, score, past, targets)
        else:
            periods = analyse_periods(predicted, problem, score, past, targets)
    if periods and periods.spread:
        metrics[problem.metric] = widen_interval(metrics[problem.metric], periods, problem.metric)
        method += f"; that of {METRICS[problem.metric].label} is widened by its variation between periods"
    # After the periods, so that the factor for several looks applies to the whole uncertainty.
    if looks > 1:
        metrics = {name: widen_for_looks(score, looks, name) for name, score in metrics.items()}
        difference = widen_for_looks(difference, looks)
        method += f"; widened to a level of {100 * confidence_level(looks):.4g}% for {looks} looks at them"
    beats = difference["low"] is not None and difference["low"] > 0
    is_binary = problem.is_binary
    interval_coverage = interval_coverage or _interval_coverage(predicted, fit, ahead, units)
    return {
        "on": on,
        "model": fit.name if fit else None,
        "rows": len(predicted.truth),
        "metric": problem.metric,
        "metrics": metrics,
        "interval_method": method,
        "periods": [round_significant(score) for score in periods.scores] if periods else [],
        "baseline": _score_baseline(baseline, problem),
        "beats_baseline": beats,
        "baseline_difference": difference,
        "threshold": predicted.threshold if is_binary else None,
        "confusion": confusion(predicted, problem) if problem.is_classification else None,
        "per_class": per_class(predicted, problem) if problem.is_classification else [],
        "roc": roc_curve(predicted) if is_binary else None,
        "precision_recall": precision_recall_curve(predicted) if is_binary else None,
        "calibration": calibration(predicted) if is_binary else None,
        "residuals": None if problem.is_classification else residuals(predicted),
        "intervals": interval_coverage,
        "cv_score": fit.score if compare and fit else None,
        "agrees_with_cv": agreement.agrees if agreement else None,
        "notes": score_notes(
            predicted, problem, metrics, difference, agreement, periods, interval_coverage, units
        ),
        "figures": [],
    }


def _score_baseline(baseline: Predicted, problem: Problem) -> dict[str, float | None]:
    """Score the naive model: by the problem's metric at its own threshold, else as the commonest class.

    At the threshold with its best F1 it names the rarer class for every row: other metrics do not judge that.
    """
    scores = score_all(replace(baseline, threshold=0.5, row_thresholds=None), problem)
    return {**scores, problem.metric: score_all(baseline, problem)[problem.metric]}


def _interval_coverage(
    predicted: Predicted, fit: CandidateFit | None, ahead: np.ndarray | None, units: IndependentUnits
) -> CoverageJson | None:
    """The share of rows within the model's prediction intervals."""
    fitted = fit.prediction_intervals if fit else None
    return measure_coverage(predicted.truth, predicted.output, fitted, ahead, units) if fitted else None
