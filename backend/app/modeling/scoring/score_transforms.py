"""Unbounded scales of metrics: scores are shifted and compared on a scale where none lies beyond the range."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from app.modeling.problem.metrics import METRICS, MetricScale

ScoreFunction = Callable[[np.ndarray | float], np.ndarray | float]


@dataclass(frozen=True)
class ScoreTransform:
    """`to_unbounded` maps a score to a scale without bounds (infinite at the ends of the range);
    `from_unbounded` is its inverse."""

    to_unbounded: ScoreFunction
    from_unbounded: ScoreFunction

    def shift(self, score: float, distance: float) -> float:
        """Move a score by a distance on the unbounded scale."""
        return float(self.from_unbounded(self.to_unbounded(score) + distance))


_TRANSFORMS = {
    # Losses differ by a factor, shares by their odds, correlations by Fisher's z.
    MetricScale.LOSS: ScoreTransform(np.log, np.exp),
    MetricScale.SHARE: ScoreTransform(logit, expit),
    MetricScale.CORRELATION: ScoreTransform(np.arctanh, np.tanh),
    MetricScale.EXPLAINED: ScoreTransform(
        lambda score: -np.log1p(-np.asarray(score)), lambda position: -np.expm1(-np.asarray(position))
    ),
}


RANGES = {
    MetricScale.SHARE: (0.0, 1.0),
    MetricScale.CORRELATION: (-1.0, 1.0),
    MetricScale.EXPLAINED: (-math.inf, 1.0),
    MetricScale.LOSS: (0.0, math.inf),
}
"""Range of values by scale: a bound at an end of it has no place on the unbounded scale."""


def get_transform(metric: str) -> ScoreTransform:
    return _TRANSFORMS[METRICS[metric].scale]


def to_unbounded(metric: str, score: float) -> float:
    """Map a score to the unbounded scale of its metric; infinite at an end of the range."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(get_transform(metric).to_unbounded(score))


def clip_to_range(metric: str | None, low: float, high: float) -> tuple[float, float]:
    """Clip bounds of a score to the range of its metric; without one they are returned as they are."""
    if metric is None:
        return low, high
    lowest, highest = RANGES[METRICS[metric].scale]
    return max(low, lowest), min(high, highest)
