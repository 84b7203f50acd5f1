"""Bootstrap intervals: how much a score would move with other rows of the same kind."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.results import Interval
from app.modeling.scores import SCORES, Predicted, scores_for

MOST_RESAMPLES = 1000
FEWEST_RESAMPLES = 200
ROWS_IN_ALL = 10_000_000
"""Rows drawn over all resamples, so that a large hold-out takes seconds too."""

Draw = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Resampling:
    """How rows are drawn anew, and that in words. Rows that belong together are drawn together."""

    draw: Draw
    what: str
    resamples: int

    @property
    def method(self) -> str:
        return f"95% percentile bootstrap over {self.what}, {self.resamples} resamples"


def resampling(rows: int, problem: Problem, groups: pd.Series | None = None) -> Resampling:
    """Blocks of neighbours where time orders the rows (as they lie), whole groups, else single rows."""
    resamples = int(np.clip(ROWS_IN_ALL // max(rows, 1), FEWEST_RESAMPLES, MOST_RESAMPLES))
    if problem.time_column:
        length = min(max(math.ceil(rows ** (1 / 3)), 2 * (problem.horizon or 0), 1), max(rows // 2, 1))
        return Resampling(_blocks(rows, length), f"blocks of {length} rows in time order", resamples)
    if groups is not None and groups.nunique() > 1:
        return Resampling(_clusters(groups), f"{groups.nunique()} groups", resamples)
    return Resampling(lambda rng: rng.integers(0, rows, rows), "rows", resamples)


def _blocks(rows: int, length: int) -> Draw:
    count = math.ceil(rows / length)

    def draw(rng: np.random.Generator) -> np.ndarray:
        starts = rng.integers(0, rows - length + 1, count)
        drawn: np.ndarray = (starts[:, None] + np.arange(length)).ravel()[:rows]
        return drawn

    return draw


def _clusters(groups: pd.Series) -> Draw:
    places = groups.reset_index(drop=True)
    members = [part.index.to_numpy() for _, part in places.groupby(places, sort=True)]

    def draw(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([members[place] for place in rng.integers(0, len(members), len(members))])

    return draw


def bootstrap(
    predicted: Predicted, baseline: Predicted, problem: Problem, how: Resampling, seed: int
) -> tuple[dict[str, Interval], Interval]:
    """Every metric with its interval, and how much better than the baseline the problem's metric is.

    Model and baseline are judged on the same drawn rows.
    """
    rng = np.random.default_rng(seed)
    scores = scores_for(problem)
    main = SCORES[problem.metric]
    sign = 1 if main.greater_is_better else -1
    drawn: dict[str, list[float]] = {score.name: [] for score in scores}
    differences: list[float] = []
    for _ in range(how.resamples):
        sample = how.draw(rng)
        taken = predicted.take(sample)
        for score in scores:
            drawn[score.name].append(score.compute(taken))
        differences.append(sign * (drawn[main.name][-1] - main.compute(baseline.take(sample))))
    intervals = {score.name: _interval(score.compute(predicted), drawn[score.name]) for score in scores}
    difference = sign * (main.compute(predicted) - main.compute(baseline))
    return intervals, _interval(difference, differences)


def _interval(value: float, drawn: Sequence[float]) -> Interval:
    """Without bounds where more than a tenth of the resamples had no score, for example one class only."""
    known = np.array([score for score in drawn if math.isfinite(score)])
    if len(known) < 0.9 * len(drawn):
        return {"value": rounded(value), "low": None, "high": None}
    low, high = np.quantile(known, [0.025, 0.975])
    return {"value": rounded(value), "low": rounded(float(low)), "high": rounded(float(high))}
