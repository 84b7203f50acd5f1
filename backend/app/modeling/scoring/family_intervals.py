"""Intervals that hold together for several looks at one hold-out, by Bonferroni in normal form."""

import math
from functools import cache

import numpy as np
from scipy import stats

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.metrics import METRICS, MetricScale
from app.modeling.scoring.score_transforms import get_transform, to_unbounded
from app.modeling.table.json_values import round_significant

ERROR_SHARE = 0.05
"""Probability that a single 95 % interval misses, which all looks of a family share."""


_RANGES = {
    MetricScale.SHARE: (0.0, 1.0),
    MetricScale.CORRELATION: (-1.0, 1.0),
    MetricScale.EXPLAINED: (-math.inf, 1.0),
    MetricScale.LOSS: (0.0, math.inf),
}
"""Range of values by scale: a bound at an end of it cannot be stretched on the unbounded scale."""


def confidence_level(looks: int) -> float:
    """Return the level of each interval with which all looks together are covered in 95 %."""
    return 1 - ERROR_SHARE / looks


def widen_for_looks(score: Interval, looks: int, metric: str | None = None, made_for: int = 1) -> Interval:
    """Widen an interval that was made for `made_for` looks to the level of `looks`.

    Percentiles of a thousand resamples have no tail left at such a level, so each side grows by the ratio of
    normal quantiles, on the unbounded scale of the metric if one is named. Without bounds nothing changes.
    """
    value, low, high = score["value"], score["low"], score["high"]
    if looks <= made_for or value is None or low is None or high is None:
        return score
    factor = _quantile(looks) / _quantile(made_for)
    bounds = _stretch_unbounded(value, low, high, factor, metric) if metric else None
    if bounds is None:
        bounds = value - factor * (value - low), value + factor * (high - value)
    if metric:
        lowest, highest = _RANGES[METRICS[metric].scale]
        bounds = max(bounds[0], lowest), min(bounds[1], highest)
    return {
        "value": value,
        "low": round_significant(bounds[0]),
        "high": round_significant(bounds[1]),
    }


@cache
def _quantile(looks: int) -> float:
    return float(stats.norm.ppf(1 - ERROR_SHARE / (2 * looks)))


def _stretch_unbounded(
    value: float, low: float, high: float, factor: float, metric: str
) -> tuple[float, float] | None:
    """Stretch on the unbounded scale; None if the score or a bound is at an end of its range."""
    positions = [to_unbounded(metric, number) for number in (value, low, high)]
    if not np.isfinite(positions).all():
        return None
    middle, below, above = positions
    back = get_transform(metric).from_unbounded
    return (
        float(back(middle - factor * (middle - below))),
        float(back(middle + factor * (above - middle))),
    )
