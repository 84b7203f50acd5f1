"""Scores of a multi-step forecast by step: the model's, the references', and the coverage of its intervals."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.prediction_intervals import measure_coverage
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

MAX_STEPS = 32
"""Steps in the report: a longer table is not read."""


def score_by_step(
    predicted: Predicted,
    baseline: Predicted,
    ahead: np.ndarray,
    problem: Problem,
    bounds: Mapping[str, Any] | None,
    references: Mapping[str, np.ndarray],
    units: IndependentUnits | None = None,
) -> list[dict[str, Any]]:
    """Score each step: `[{"rows_ahead", "rows", "score", "baseline", "references": {name: score}, "coverage":
    CoverageJson}]`.

    `ahead` (rows,): the rows ahead that each row predicts; `references`: the forecast of each reference for the
    rows; `units`: those of the rows, see `find_units`.
    """
    steps = []
    for step in np.unique(ahead)[:MAX_STEPS]:
        at = np.flatnonzero(ahead == step)
        own_rows = predicted.take(at)
        score = SCORERS[problem.metric]
        reference_predictions = {
            name: Predicted.from_problem(problem, own_rows.truth, forecast[at])
            for name, forecast in references.items()
        }
        steps.append(
            {
                "rows_ahead": int(step),
                "rows": len(at),
                "score": round_significant(score(own_rows)),
                "baseline": round_significant(score(baseline.take(at))),
                "references": {
                    name: round_significant(score(other))
                    for name, other in reference_predictions.items()
                    if np.isfinite(other.output).all()
                },
                "coverage": measure_coverage(
                    own_rows.truth, own_rows.output, bounds, ahead[at], units and units.take(at)
                )
                if bounds
                else None,
            }
        )
    return steps
