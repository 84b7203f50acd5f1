"""Intervals of forecasts along a path of steps, from the errors of a trial."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

MIN_ERRORS = 4
"""Errors of a step below which they say nothing about its spread."""
SYMMETRIC_ERRORS = 20
"""Independent errors at which the bounds are half symmetric: their 5 % quantile is one of them."""
LEVEL = 0.9
"""Probability that an interval holds the truth."""


@dataclass(frozen=True)
class PathIntervals:
    """Bounds of errors by step: quantiles of standardised errors times the spread at each step.

    `spread`: of the errors at each step (horizon,), in their unit, wider where few of them are independent.
    `lower` (at most 0) and `upper` (at least 0): quantiles of errors divided by it, without a unit.
    """

    spread: np.ndarray
    lower: float
    upper: float

    @classmethod
    def fit(cls, errors: np.ndarray) -> "PathIntervals":
        """Fit on errors (origins, horizon), which are missing beyond the last row."""
        spread = _smooth_spread(errors)
        relative = (errors / spread)[np.isfinite(errors)]
        counts = _independent_errors(errors)
        widening = stats.t.ppf((1 + LEVEL) / 2, counts) / stats.norm.ppf((1 + LEVEL) / 2)
        tail = (1 - LEVEL) / 2
        lower, upper = np.quantile(relative, [tail, 1 - tail])
        # Few errors may all have one sign by chance: the fewer, the more symmetric are the bounds.
        independent, size = float(np.median(counts)), float(np.quantile(np.abs(relative), LEVEL))
        share = independent / (independent + SYMMETRIC_ERRORS)
        lower, upper = share * lower - (1 - share) * size, share * upper + (1 - share) * size
        return cls(spread * widening, float(min(lower, 0.0)), float(max(upper, 0.0)))

    def bounds(
        self, forecast: np.ndarray, steps: np.ndarray, scale: float | np.ndarray = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return low and high of forecasts at steps ahead (1: the next row) of a series with this scale.

        Forecasts (origins, steps) have a scale for each origin (origins, 1).
        """
        longest = len(self.spread)
        width = scale * self.spread[np.minimum(steps, longest) - 1] * np.sqrt(np.maximum(steps / longest, 1.0))
        return forecast + self.lower * width, forecast + self.upper * width


def grows_with_level(errors: np.ndarray, levels: np.ndarray) -> bool:
    """Test if errors (origins, horizon) are more alike after division by the level (origins,).

    Both are compared by the likelihood of Laplace's distribution, whose spread is the mean size of errors: they
    have as many parameters, so that no gain is too small.
    """
    gains = []
    for column in errors.T:
        finite = np.isfinite(column)
        sizes, relative = np.abs(column[finite]), np.abs(column[finite]) / levels[finite]
        if len(sizes) >= MIN_ERRORS and sizes.any():
            gains.append(float(np.log(sizes.mean() / relative.mean()) - np.log(levels[finite]).mean()))
    return bool(gains) and float(np.mean(gains)) > 0


def _independent_errors(errors: np.ndarray) -> np.ndarray:
    """Return the number of independent errors at each step (horizon,), from their correlation in time.

    The errors of a walk at neighbouring origins share most of their future, those of a fixed level do not.
    """
    counts = np.full(errors.shape[1], 2.0)
    for step, column in enumerate(errors.T):
        known_errors = column[np.isfinite(column)]
        if len(known_errors) >= MIN_ERRORS:
            before, after = known_errors[:-1], known_errors[1:]
            size = float(np.sqrt((before**2).sum() * (after**2).sum()))
            correlation = max(0.0, float((before * after).sum()) / size) if size else 0.0
            counts[step] = max(2.0, len(known_errors) * (1 - correlation) / (1 + correlation))
    return _smooth(counts)


def _smooth(values: np.ndarray) -> np.ndarray:
    """Return the moving mean over a quarter of the steps."""
    window = max(1, len(values) // 8)
    padded = np.pad(values, (window, window), mode="edge")
    return np.convolve(padded, np.ones(2 * window + 1) / (2 * window + 1), mode="valid")


def _smooth_spread(errors: np.ndarray) -> np.ndarray:
    """Return the root mean square error of each step, smoothed, and continued where no truth is known."""
    counts = np.isfinite(errors).sum(axis=0)
    measured_steps = np.flatnonzero(counts >= MIN_ERRORS)
    measured_steps = measured_steps if len(measured_steps) else np.flatnonzero(counts > 0)
    smooth = np.sqrt(_smooth(np.nanmean(errors[:, measured_steps] ** 2, axis=0)))
    spread = np.empty(errors.shape[1])
    spread[measured_steps] = smooth
    beyond = np.arange(errors.shape[1]) > measured_steps[-1]
    # Errors of a level that wanders grow with the root of the steps.
    spread[beyond] = smooth[-1] * np.sqrt((np.flatnonzero(beyond) + 1) / (measured_steps[-1] + 1))
    missing = np.setdiff1d(np.flatnonzero(~beyond), measured_steps)
    spread[missing] = np.interp(missing, measured_steps, smooth)
    return np.maximum(spread, 1e-12)
