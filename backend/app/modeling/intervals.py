"""Bootstrap intervals: how much a score would move with other rows of the same kind."""

from typing import Any

import numpy as np

from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.results import Interval
from app.modeling.scores import SCORES, Predicted, scores_for

RESAMPLES = 1000


def bootstrap(
    predicted: Predicted, baseline: Predicted, problem: Problem, seed: int
) -> tuple[dict[str, Interval], Interval]:
    """Every metric with its 95% percentile interval, and how much better than the baseline its metric is.

    Rows are drawn with replacement, the same rows for model and baseline.
    """
    rng = np.random.default_rng(seed)
    rows = len(predicted.truth)
    scores = scores_for(problem)
    drawn: dict[str, list[float]] = {score.name: [] for score in scores}
    differences: list[float] = []
    main = SCORES[problem.metric]
    sign = 1 if main.greater_is_better else -1
    for _ in range(RESAMPLES):
        sample = rng.integers(0, rows, rows)
        taken = predicted.take(sample)
        for score in scores:
            drawn[score.name].append(score.compute(taken))
        differences.append(sign * (drawn[main.name][-1] - main.compute(baseline.take(sample))))
    intervals = {score.name: _interval(score.compute(predicted), drawn[score.name]) for score in scores}
    difference = sign * (main.compute(predicted) - main.compute(baseline))
    return intervals, _interval(difference, differences)


def _interval(value: float, drawn: Any) -> Interval:
    known = np.asarray(drawn)[np.isfinite(drawn)]
    if len(known) < 0.9 * RESAMPLES:
        return {"value": rounded(value), "low": None, "high": None}
    low, high = np.quantile(known, [0.025, 0.975])
    return {"value": rounded(value), "low": rounded(float(low)), "high": rounded(float(high))}
