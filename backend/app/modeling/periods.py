"""How much a score moves from one period to the next, beyond what chance within a period explains."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.modeling.plain import rounded
from app.modeling.problem import Problem
from app.modeling.results import Interval
from app.modeling.scores import SCORES, Predicted

COUNT = 4
FEWEST_ROWS = 80


@dataclass(frozen=True)
class Periods:
    """`scores` of equal parts of the judged rows in time order; `spread`: standard deviation beyond chance."""

    scores: tuple[float, ...]
    spread: float
    noise: float
    """Standard error of one period's score."""

    def worsens(self, greater_is_better: bool) -> bool:
        """Whether the last period is worse than the first beyond noise, with no better one between."""
        sign = 1 if greater_is_better else -1
        fall = sign * (self.scores[0] - self.scores[-1])
        return fall > 2.8 * self.noise and sign * self.scores[-1] <= sign * min(
            self.scores, key=lambda s: sign * s
        )


def periods_of(
    predicted: Predicted, problem: Problem, score: Interval, earlier: Sequence[float | None] = ()
) -> Periods | None:
    """The rows lie in time order; `earlier`: scores of the periods before them, on rows just as unseen.

    `score` is that of all rows, with its interval. None for few rows or where a period has no score.
    """
    if len(predicted.truth) < FEWEST_ROWS or score["low"] is None or score["high"] is None:
        return None
    parts = np.array_split(np.arange(len(predicted.truth)), COUNT)
    scores = [SCORES[problem.metric].compute(predicted.take(part)) for part in parts]
    if not np.isfinite(scores).all():
        return None
    noise = (score["high"] - score["low"]) / (2 * 1.96) * np.sqrt(COUNT)
    seen = [*(value for value in earlier if value is not None), *scores]
    spread = np.sqrt(max(0.0, float(np.var(seen, ddof=1)) - noise**2))
    return Periods(tuple(scores), float(spread), float(noise))


def widened(score: Interval, spread: float) -> Interval:
    """The interval for another period: chance and the move from period to period together."""
    value, low, high = score["value"], score["low"], score["high"]
    if value is None or low is None or high is None or not spread:
        return score
    move = 1.96 * spread
    return {
        "value": value,
        "low": rounded(value - float(np.hypot(max(value - low, 0.0), move))),
        "high": rounded(value + float(np.hypot(max(high - value, 0.0), move))),
    }
