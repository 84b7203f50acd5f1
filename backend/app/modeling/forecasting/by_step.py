"""A forecast of every step, each judged by itself: its error, that of others, and how often bounds held."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from app.modeling.problem.problem import Problem
from app.modeling.scoring.prediction_intervals import measure_coverage
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

MAX_ROWS = 32


def by_step(
    predicted: Predicted,
    baseline: Predicted,
    ahead: np.ndarray,
    problem: Problem,
    bounds: Mapping[str, Any] | None,
    said: Mapping[str, np.ndarray],
) -> list[dict[str, Any]]:
    """`[{"rows_ahead", "rows", "score", "baseline", "references": {name: score}, "coverage": CoverageJson}]`.

    `ahead` (rows,): the step that each row asks about; `said`: what each reference says of the rows.
    """
    found = []
    for step in np.unique(ahead)[:MAX_ROWS]:
        at = np.flatnonzero(ahead == step)
        own = predicted.take(at)
        score = SCORERS[problem.metric]
        others = {
            name: Predicted.from_problem(problem, own.truth, forecast[at]) for name, forecast in said.items()
        }
        found.append(
            {
                "rows_ahead": int(step),
                "rows": len(at),
                "score": round_significant(score(own)),
                "baseline": round_significant(score(baseline.take(at))),
                "references": {
                    name: round_significant(score(other))
                    for name, other in others.items()
                    if np.isfinite(other.output).all()
                },
                "coverage": measure_coverage(own.truth, own.output, bounds, ahead[at]) if bounds else None,
            }
        )
    return found
