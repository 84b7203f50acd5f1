"""Bounds of scores without an error: no resample of rows without one has another, so that a bootstrap has no
width."""

import numpy as np

from app.modeling.facts.computation_facts import Interval
from app.modeling.problem.metrics import METRICS, MetricScale
from app.modeling.scoring.scores import Predicted
from app.modeling.table.json_values import round_significant

TAIL = 0.025
"""Probability beyond each bound of a 95% interval."""
METRICS_OF_ROWS = frozenset({"accuracy"})
"""Metrics in which every row counts alike; the others need rows of the rarest class."""


def has_no_width(interval: Interval) -> bool:
    return interval["value"] is not None and interval["low"] == interval["high"] == interval["value"]


def unseen_error_share(units: int) -> float:
    """Return the largest share of errors of which none is seen in so many units with a probability of 2.5%.

    Clopper & Pearson 1934, for no error among `units`; about 3.7 divided by their number.
    """
    return 1.0 - float(TAIL ** (1.0 / max(units, 1)))


def bound_perfect_score(interval: Interval, predicted: Predicted, metric: str, unit_count: int) -> Interval:
    """Give a share of 0 or 1 the bound of Clopper and Pearson; other intervals are returned as they are.

    `unit_count`: independent units of the rows. Where classes are scored, those of the rarest class count.
    """
    if not has_no_width(interval) or METRICS[metric].scale is not MetricScale.SHARE:
        return interval
    units = min(unit_count, len(predicted.truth))
    if metric not in METRICS_OF_ROWS:
        units = min(units, int(np.unique(predicted.truth, return_counts=True)[1].min()))
    unseen = unseen_error_share(units)
    if interval["value"] == 1.0:
        return {"value": 1.0, "low": round_significant(1.0 - unseen), "high": 1.0}
    if interval["value"] == 0.0:
        return {"value": 0.0, "low": 0.0, "high": round_significant(unseen)}
    return interval
