"""Comparison of a model with model-free forecasts, on the same hold-out rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.modeling.forecasting.series_forecast import SELECTED
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits, units_in_order
from app.modeling.scoring.intervals import bootstrap, make_resampling
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant


def compare_with_references(
    predicted: Predicted,
    references: Mapping[str, np.ndarray],
    problem: Problem,
    seed: int,
    units: IndependentUnits | None = None,
) -> list[dict[str, Any]]:
    """Compare a model with each reference: `[{"name", "score", "difference": Interval}]`, the best first.

    A difference above 0 favours the model. `references`: forecasts (rows,); missing ones are replaced by the
    last value. `units`: those of the rows, see `find_units`.
    """
    forecasts = dict[str, Predicted]()
    for name in references:
        filled = fill_gaps(name, references)
        if np.isfinite(filled).all():
            forecasts[name] = Predicted.from_problem(problem, predicted.truth, filled)
    return compare_with_predictions(predicted, forecasts, problem, seed, units)


def fill_gaps(name: str, references: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the forecasts of a reference (rows,) with the last value where it has none."""
    forecast = references[name]
    # Filled, not left out: all references are judged on the same rows.
    filled: np.ndarray = np.where(np.isfinite(forecast), forecast, references.get("last value", forecast))
    return filled


def compare_with_predictions(
    predicted: Predicted,
    references: Mapping[str, Predicted],
    problem: Problem,
    seed: int,
    units: IndependentUnits | None = None,
) -> list[dict[str, Any]]:
    """Compare a model with predictions of the same rows, as `compare_with_references` does."""
    resample = make_resampling(units or units_in_order(len(predicted.truth), problem))
    comparisons = []
    for name, reference in references.items():
        # The same resamples for each reference, so that their intervals differ by the predictions alone.
        _, difference = bootstrap(predicted, reference, problem, resample, seed)
        score = round_significant(SCORERS[problem.metric](reference))
        comparisons.append({"name": name, "score": score, "difference": difference})
    sign = -1 if METRICS[problem.metric].greater_is_better else 1
    return sorted(
        comparisons, key=lambda entry: sign * (entry["score"] if entry["score"] is not None else np.inf)
    )


def reference_notes(references: list[dict[str, Any]], noun: str = "forecast") -> list[str]:
    """List the references that the model does not beat beyond chance, as a sentence. `noun`: what they are."""
    # A difference that could not be measured counts as not beaten.
    unbeaten = [entry["name"] for entry in references if (entry["difference"]["low"] or 0.0) <= 0]
    if not unbeaten:
        return []
    return [f"It does not beat a {noun} without a model beyond chance: {', '.join(unbeaten)}."]


def forecasts_every_amount(problem: Problem) -> bool:
    """Test for forecasts that the classical methods make: amounts of each period up to the horizon."""
    is_amount = not problem.is_classification and problem.outlook is Outlook.VALUE
    return is_amount and (problem.every_step or problem.horizon == 1) and problem.quantile is None


def recommend(references: Sequence[Mapping[str, Any]], model: str, problem: Problem) -> dict[str, Any]:
    """Return who makes the forecast, `{"name", "is_model"}`: the model or the classical methods.

    The methods do where they were better on the hold-out. They were chosen on the training rows, so that only
    these two compete here.
    """
    selected = next((entry for entry in references if entry["name"] == SELECTED), None)
    # The better value decides, not the interval: one of the two must forecast, however close they are.
    is_better = selected is None or (selected["difference"]["value"] or 0.0) >= 0
    is_model = is_better or not forecasts_every_amount(problem)
    return {"name": model if is_model else SELECTED, "is_model": is_model}
