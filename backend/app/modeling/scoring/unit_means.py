"""Means of rows, with errors and tests that count the units in which rows are independent.

`units` (rows,) is the number of the unit of each row, see `IndependentUnits.unit_of_row`.
"""

import math

import numpy as np
from scipy import stats

TAIL = 0.025
"""Probability beyond each bound of a 95% interval."""

Bounds = tuple[float, float]
"""Bounds of a 95% interval; nan if all rows are of one unit."""


def bound_mean(values: np.ndarray, units: np.ndarray) -> Bounds:
    """Return the 95% interval of a mean by Student's t."""
    sizes = _unit_sizes(units)
    if len(sizes) < 2:
        return math.nan, math.nan
    mean = float(values.mean())
    half_width = _quantile(sizes) * _error_of_sums(
        np.bincount(units, weights=(values - mean) / len(values)), sizes
    )
    return mean - half_width, mean + half_width


def bound_share(hits: np.ndarray, units: np.ndarray) -> Bounds:
    """Return the 95% interval of the share of true values, by Wilson's score for as many rows as units tell.

    A normal interval would pass 1 at shares that are high, as those of rows within their bounds.
    """
    sizes = _unit_sizes(units)
    if len(sizes) < 2:
        return math.nan, math.nan
    share, rows, quantile = float(hits.mean()), float(len(hits)), float(stats.norm.isf(TAIL))
    if len(sizes) < len(hits):
        # Rows of the same variance, had they been drawn alone (Korn and Graubard 1998).
        error = _error_of_sums(np.bincount(units, weights=(hits - share) / len(hits)), sizes)
        rows = min(rows, share * (1 - share) / error**2) if error else _effective_count(sizes)
        quantile = _quantile(sizes)
    middle = (share + quantile**2 / (2 * rows)) / (1 + quantile**2 / rows)
    spread = math.sqrt(share * (1 - share) / rows + quantile**2 / (4 * rows**2))
    half_width = quantile / (1 + quantile**2 / rows) * spread
    return middle - half_width, middle + half_width


def measure_excess(values: np.ndarray, is_inside: np.ndarray, units: np.ndarray) -> tuple[float, float]:
    """Return the excess of the mean inside over that outside in standard errors, and its one-sided probability.

    The probability is that of such an excess, or a larger one, if both means are the same. Its degrees of
    freedom are those of the side with fewer units: fewer than Welch's, since errors are skewed. 0 and 1 if a
    side has only one unit or nothing varies.
    """
    sides = is_inside, ~is_inside
    sizes = [_unit_sizes(units[side]) for side in sides]
    if min(map(len, sizes)) < 2:
        return 0.0, 1.0
    means = [float(values[side].mean()) for side in sides]
    influence = np.where(
        is_inside, (values - means[0]) / is_inside.sum(), -(values - means[1]) / (~is_inside).sum()
    )
    # Summed over both sides of a unit: what its rows share cancels where they lie on both.
    error = _error_of_sums(np.bincount(units, weights=influence), min(sizes, key=len))
    # Written this way round, so that an error of nan does not pass either.
    if not error > 0:
        return 0.0, 1.0
    statistic = (means[0] - means[1]) / error
    freedom = max(min(map(_effective_count, sizes)) - 1, 1.0)
    return statistic, float(stats.t.sf(statistic, freedom))


def _unit_sizes(units: np.ndarray) -> np.ndarray:
    sizes = np.bincount(units)
    return sizes[sizes > 0]


def _effective_count(sizes: np.ndarray) -> float:
    """Number of units of equal size that tell as much (Kish)."""
    return float(sizes.sum()) ** 2 / float((sizes.astype("float64") ** 2).sum())


def _quantile(sizes: np.ndarray) -> float:
    # Of two units, one of them small, less than a degree of freedom would be left.
    return float(stats.t.isf(TAIL, max(_effective_count(sizes) - 1, 1.0)))


def _error_of_sums(sums: np.ndarray, sizes: np.ndarray) -> float:
    """Return the standard error of a statistic from its influence, summed by unit (units,)."""
    return math.sqrt(len(sizes) / (len(sizes) - 1) * float((sums**2).sum()))
