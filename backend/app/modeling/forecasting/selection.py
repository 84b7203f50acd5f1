"""The choice among classical methods of forecasting, and their intervals, on the last part of the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from app.modeling.forecasting.methods import Method

MAX_ORIGINS = 150
"""Rows of a trial from which a series is forecast: more change the mean error by less than it varies."""
TRIAL_SHARE = 0.4
"""Share of the rows, at the end, on which methods are compared."""
MIN_TRAIN_ROWS, MIN_TRIAL_ROWS = 3, 4
"""Rows before a trial, and of it, below which its errors say nothing."""
COMBINED = 3
"""Methods that are averaged: the mean of the best three is seldom worse than the best (M4 competition)."""
SYMMETRIC_ERRORS = 20
"""Independent errors at which the bounds are half symmetric: their 5 % quantile is one of them."""
LEVEL = 0.9
"""Probability that an interval holds the truth."""


@dataclass(frozen=True)
class Trial:
    """Forecasts of one series in a trial: `forecasts[method]` and `truth` have the shape (origins, horizon)."""

    truth: np.ndarray
    forecasts: Mapping[str, np.ndarray]
    scale: float


def run_trial(values: np.ndarray, methods: Mapping[str, Method], train_rows: int, horizon: int) -> Trial | None:
    """Forecast the rows after the training rows by each method; None if too few rows follow."""
    last = len(values) - 2
    if last - train_rows + 2 < MIN_TRIAL_ROWS or train_rows < MIN_TRAIN_ROWS:
        return None
    origins = np.unique(np.linspace(train_rows - 1, last, min(MAX_ORIGINS, last - train_rows + 2)).astype(int))
    rows = origins[:, None] + np.arange(1, horizon + 1)
    truth = np.where(rows < len(values), values[np.minimum(rows, len(values) - 1)], np.nan)
    forecasts = {name: method(values, train_rows, horizon, origins) for name, method in methods.items()}
    complete = {name: forecast for name, forecast in forecasts.items() if _covers(forecast, truth)}
    return Trial(truth, complete, float(np.abs(np.diff(values[:train_rows])).mean()) or 1.0)


def _covers(forecast: np.ndarray, truth: np.ndarray) -> bool:
    return bool(np.isfinite(forecast[np.isfinite(truth)]).all())


@dataclass(frozen=True)
class Choice:
    """The methods that are averaged, and the mean errors of all in the trial, the best first."""

    methods: tuple[str, ...]
    errors: Mapping[str, float]

    @property
    def name(self) -> str:
        return self.methods[0] if len(self.methods) == 1 else f"mean of {', '.join(self.methods)}"


def choose_methods(trials: Sequence[Trial], is_squared: bool) -> Choice:
    """Choose the method, or the mean of the best ones, with the least error over all series."""
    names = [name for name in trials[0].forecasts if all(name in other.forecasts for other in trials)]
    errors = {
        name: _mean_error([(trial, trial.forecasts[name]) for trial in trials], is_squared) for name in names
    }
    ranked = sorted(errors, key=lambda name: errors[name])
    best = tuple(ranked[:COMBINED])
    combined = _mean_error([(trial, combine(trial.forecasts, best)) for trial in trials], is_squared)
    methods = best if len(best) > 1 and combined <= errors[ranked[0]] else (ranked[0],)
    return Choice(methods, {name: errors[name] for name in ranked})


def combine(forecasts: Mapping[str, np.ndarray], methods: Sequence[str]) -> np.ndarray:
    """Return the mean of the forecasts of some methods."""
    mean: np.ndarray = np.mean([forecasts[name] for name in methods], axis=0)
    return mean


def _mean_error(pairs: Sequence[tuple[Trial, np.ndarray]], is_squared: bool) -> float:
    """Return the error relative to the series' mean change, so that series of large numbers do not decide."""
    means = []
    for trial, forecast in pairs:
        misses = np.abs(trial.truth - forecast) / trial.scale
        misses = misses[np.isfinite(misses)]
        means.append(float(np.sqrt((misses**2).mean()) if is_squared else misses.mean()))
    return float(np.mean(means))


@dataclass(frozen=True)
class PathIntervals:
    """Bounds of errors by step: quantiles of standardised errors times the spread at each step."""

    spread: np.ndarray
    lower: float
    upper: float

    @classmethod
    def fit(cls, errors: np.ndarray) -> "PathIntervals":
        """Fit on errors (origins, horizon), which are missing beyond the last row."""
        spread = _smooth_spread(errors)
        relative = (errors / spread)[np.isfinite(errors)]
        # Neighbouring origins share most of their future: they count as few errors.
        horizon = errors.shape[1]
        independent = max(2.0, np.isfinite(errors[:, 0]).sum() / max(1.0, horizon / 4))
        widening = stats.t.ppf((1 + LEVEL) / 2, independent) / stats.norm.ppf((1 + LEVEL) / 2)
        tail = (1 - LEVEL) / 2
        lower, upper = np.quantile(relative, [tail, 1 - tail])
        # Few errors may all have one sign by chance: the fewer, the more symmetric are the bounds.
        size, share = (
            float(np.quantile(np.abs(relative), LEVEL)),
            independent / (independent + SYMMETRIC_ERRORS),
        )
        lower, upper = share * lower - (1 - share) * size, share * upper + (1 - share) * size
        return cls(spread, float(min(lower, 0.0)) * widening, float(max(upper, 0.0)) * widening)

    def bounds(
        self, forecast: np.ndarray, steps: np.ndarray, scale: float = 1.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return low and high of forecasts at steps ahead (1: the next row) of a series with this scale."""
        longest = len(self.spread)
        width = scale * self.spread[np.minimum(steps, longest) - 1] * np.sqrt(np.maximum(steps / longest, 1.0))
        return forecast + self.lower * width, forecast + self.upper * width


def _smooth_spread(errors: np.ndarray) -> np.ndarray:
    """Return the root mean square error of each step, smoothed, and continued where no truth is known."""
    counts = np.isfinite(errors).sum(axis=0)
    measured_steps = np.flatnonzero(counts >= MIN_TRIAL_ROWS)
    measured_steps = measured_steps if len(measured_steps) else np.flatnonzero(counts > 0)
    squares = np.nanmean(errors[:, measured_steps] ** 2, axis=0)
    window = max(1, len(measured_steps) // 8)
    padded = np.pad(squares, (window, window), mode="edge")
    smooth = np.sqrt(np.convolve(padded, np.ones(2 * window + 1) / (2 * window + 1), mode="valid"))
    spread = np.empty(errors.shape[1])
    spread[measured_steps] = smooth
    beyond = np.arange(errors.shape[1]) > measured_steps[-1]
    # Errors of a level that wanders grow with the root of the steps.
    spread[beyond] = smooth[-1] * np.sqrt((np.flatnonzero(beyond) + 1) / (measured_steps[-1] + 1))
    missing = np.setdiff1d(np.flatnonzero(~beyond), measured_steps)
    spread[missing] = np.interp(missing, measured_steps, smooth)
    return np.maximum(spread, 1e-12)


def trial_rows(rows: int, horizon: int, seasons: Sequence[int]) -> int:
    """Return the training rows of a trial: the first part of the series, if possible two seasons of it."""
    longest = max((season for season in seasons if 3 * season <= rows), default=1)
    begin = int(rows * (1 - TRIAL_SHARE))
    return int(
        np.clip(max(begin, min(2 * longest + 2, rows - max(horizon, rows // 5))), 3, rows - MIN_TRIAL_ROWS)
    )
