"""Intervals that hold together for several looks at one hold-out, by Bonferroni in normal form."""

from functools import cache

import numpy as np
from scipy import stats

from app.modeling.facts.computation_facts import Interval
from app.modeling.scoring.score_transforms import clip_to_range, get_transform, to_unbounded
from app.modeling.table.json_values import round_significant

ERROR_SHARE = 0.05
"""Probability that a single 95 % interval misses, which all looks of a family share."""


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
    # An interval that was widened before has had its shorter side lengthened already.
    is_balanced = made_for > 1
    bounds = _stretch_unbounded(value, low, high, factor, is_balanced, metric) if metric else None
    if bounds is None:
        bounds = _stretch(value, low, high, factor, is_balanced)
    # A plain stretch may leave the range of a metric: no accuracy is above 1.
    bounds = clip_to_range(metric, *bounds)
    return {
        "value": value,
        "low": round_significant(bounds[0]),
        "high": round_significant(bounds[1]),
    }


@cache
def _quantile(looks: int) -> float:
    return float(stats.norm.ppf(1 - ERROR_SHARE / (2 * looks)))


def _stretch(value: float, low: float, high: float, factor: float, is_balanced: bool) -> tuple[float, float]:
    """Stretch both sides of an interval. Unless `is_balanced`, the shorter one is first as long as their mean.

    The mean of both sides is 1.96 standard deviations of the bootstrap. Percentiles of skewed scores are
    nearer to the value on the very side that misses more often, and so more at a higher level. Of 12,000
    hold-outs of 250 rows, two and five looks at an RMSE were covered in 93.9 % and 93.3 % with the shorter
    side as it was, and in 94.8 % and 94.4 % with this.
    """
    below, above = value - low, high - value
    if not is_balanced:
        mean = (below + above) / 2
        below, above = max(below, mean), max(above, mean)
    return value - factor * below, value + factor * above


def _stretch_unbounded(
    value: float, low: float, high: float, factor: float, is_balanced: bool, metric: str
) -> tuple[float, float] | None:
    """Stretch on the unbounded scale; None if the score or a bound is at an end of its range."""
    positions = [to_unbounded(metric, number) for number in (value, low, high)]
    if not np.isfinite(positions).all():
        return None
    below, above = _stretch(positions[0], positions[1], positions[2], factor, is_balanced)
    back = get_transform(metric).from_unbounded
    return float(back(below)), float(back(above))
