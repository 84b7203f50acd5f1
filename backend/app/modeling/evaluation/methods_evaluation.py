"""Evaluation of the classical methods on the hold-out, where they make the forecast in place of the model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from app.modeling.evaluation.evaluate_predictions import evaluate_predictions
from app.modeling.evaluation.period_variation import Past
from app.modeling.forecasting.path_intervals import LEVEL
from app.modeling.forecasting.reference_comparison import fill_gaps
from app.modeling.forecasting.reference_forecasts import ReferenceForecasts
from app.modeling.forecasting.series_forecast import SELECTED
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.prediction_intervals import measure_bounds
from app.modeling.scoring.scores import Predicted


def predict_by_methods(truth: np.ndarray, references: ReferenceForecasts, problem: Problem) -> Predicted:
    """Return the forecasts of the hold-out by the classical methods, as predictions of its labels (rows,)."""
    return Predicted.from_problem(problem, truth, fill_gaps(SELECTED, references.forecasts))


def evaluate_methods(
    predicted: Predicted,
    references: ReferenceForecasts,
    baseline: Predicted,
    problem: Problem,
    seed: int,
    units: IndependentUnits,
    past: Past | None = None,
    targets: np.ndarray | None = None,
    looks: int = 1,
) -> dict[str, Any]:
    """Score the forecasts of the methods as those of a model are, and count the rows within their intervals.

    The intervals are those that the methods have on the training rows. Other parameters are those of
    `evaluate_predictions`.
    """
    coverage = None
    if references.low is not None and references.high is not None:
        bounds = (references.low, references.high)
        coverage = measure_bounds(predicted.truth, predicted.output, bounds, LEVEL, units)
    facts = evaluate_predictions(
        predicted,
        baseline,
        problem,
        "hold-out",
        seed,
        units=units,
        # Scores of its folds are those of the model, which tell nothing of the methods.
        past=replace(past, folds=()) if past else None,
        targets=targets,
        looks=looks,
        interval_coverage=coverage,
    )
    measured: Mapping[str, Any] = facts
    return {name: measured[name] for name in _MEASURED}


_MEASURED = (
    "on",
    "rows",
    "metrics",
    "interval_method",
    "baseline",
    "beats_baseline",
    "baseline_difference",
    "intervals",
    "notes",
)
"""Facts of an evaluation that the report states of what predicts; curves are those of the model."""
