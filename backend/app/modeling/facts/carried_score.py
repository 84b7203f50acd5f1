"""The score of the delivered model on the other side of a condition, carried over from plain boosting.

By the standard library alone: reports are made where numpy is not loaded.
"""

import math
from collections.abc import Callable, Mapping

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.metrics import METRICS, MetricScale

ScaleFunction = Callable[[float], float]

_SCALES: Mapping[MetricScale, tuple[ScaleFunction, ScaleFunction]] = {
    MetricScale.LOSS: (math.log, math.exp),
    MetricScale.SHARE: (lambda score: math.log(score / (1 - score)), lambda place: 1 / (1 + math.exp(-place))),
    MetricScale.CORRELATION: (math.atanh, math.tanh),
    MetricScale.EXPLAINED: (lambda score: -math.log1p(-score), lambda place: -math.expm1(-place)),
}
"""To an unbounded scale of each kind of metric and back, as those of `scoring.score_transforms`."""


def carry_over(
    headline: Interval,
    metric: str,
    present_score: float,
    other_score: float,
    difference: Mapping[str, float | None] | None,
) -> Interval | None:
    """Move the headline's score by the step that plain boosting makes to the other side of a condition.

    A plain model that learned from a part of the rows scores worse than the delivered one on both sides; only
    the step between its sides is carried over, on the unbounded scale of the metric. `difference`: the 95 %
    bounds of the two scores' difference. The bounds join the errors of headline and step; None without a
    headline with bounds, or where a score lies at an end of its range.
    """
    value, low, high = headline["value"], headline["low"], headline["high"]
    if value is None or low is None or high is None:
        return None
    unbounded, back = _SCALES[METRICS[metric].scale]
    try:
        middle, low_place, high_place, start, end = map(
            unbounded, (value, low, high, present_score, other_score)
        )
        step_error = _step_error(unbounded, other_score, difference)
    except (ValueError, ZeroDivisionError):
        # An end of the range has no place on the unbounded scale.
        return None
    moved = middle + end - start
    below, above = math.hypot(middle - low_place, step_error), math.hypot(high_place - middle, step_error)
    score, lower, upper = (float(f"{back(place):.6g}") for place in (moved, moved - below, moved + above))
    return {"value": score, "low": lower, "high": upper}


def _step_error(
    unbounded: ScaleFunction, other_score: float, difference: Mapping[str, float | None] | None
) -> float:
    """Half the 95 % width of the step on the unbounded scale; 0 where its error is unknown."""
    low, high = (difference or {}).get("low"), (difference or {}).get("high")
    if low is None or high is None:
        return 0.0
    # A quarter of the width to each side and doubled: half the width may pass an end of the range.
    reach = (high - low) / 4
    return abs(unbounded(other_score + reach) - unbounded(other_score - reach))
