"""The choice among classical methods of forecasting, by their errors on the last part of the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.modeling.forecasting.methods import Method, prior_weight

MAX_ORIGINS = 150
"""Rows of a trial from which a series is forecast: more change the mean error by less than it varies."""
MAX_REFITS = 4
"""Parts of the trial of a single series, each forecast by methods fitted on all rows before it: fitted once, a
method that learns a new level when it is fitted again looked as bad as one that never does."""
TRIAL_SHARE = 0.4
"""Share of the rows, at the end, on which methods are compared."""
MIN_TRAIN_ROWS, MIN_TRIAL_ROWS = 3, 4
"""Rows before a trial, and of it, below which its errors say nothing."""
MIN_WEIGHT_POWER, MAX_WEIGHT_POWER = 2.0, 8.0
"""Power of the inverse error that weighs a method. Few origins hardly tell methods apart: with a power of 8
for 10 of them errors of made series were 8 % larger, and with one of 2 for 40 of them 15 %."""
ORIGINS_PER_POWER = 5.0
"""Origins of the trials that raise the power by one."""
MIN_WEIGHT = 0.05
"""Least weight of a method relative to the largest: smaller ones hardly change the forecast, and take time."""
MAX_METHODS_TOLD = 3
"""Methods that the name of a mean tells: the weights of the others are small."""


@dataclass(frozen=True)
class Trial:
    """Forecasts of one series in a trial: `forecasts[method]` and `truth` have the shape (origins, horizon).

    `scale`: the unit of errors. `levels` (origins,): the unit at each origin where errors grow with the level,
    see `level_units`; None for series that are not positive.
    """

    truth: np.ndarray
    forecasts: Mapping[str, np.ndarray]
    scale: float
    levels: np.ndarray | None = None

    def take(self, origins: np.ndarray) -> "Trial":
        """Return the trial at some of its origins."""
        forecasts = {name: forecast[origins] for name, forecast in self.forecasts.items()}
        return replace(self, truth=self.truth[origins], forecasts=forecasts)


def run_trial(
    values: np.ndarray, methods: Mapping[str, Method], train_rows: int, horizon: int, refits: int = MAX_REFITS
) -> Trial | None:
    """Forecast the rows after the training rows by each method; None if too few rows follow, or none changes.

    `refits`: parts of the trial, before each of which the methods are fitted again.
    """
    last = len(values) - 2
    if last - train_rows + 2 < MIN_TRIAL_ROWS or train_rows < MIN_TRAIN_ROWS:
        return None
    scale = _mean_change(values, train_rows)
    if not scale:
        return None
    origins = np.unique(np.linspace(train_rows - 1, last, min(MAX_ORIGINS, last - train_rows + 2)).astype(int))
    rows = origins[:, None] + np.arange(1, horizon + 1)
    truth = np.where(rows < len(values), values[np.minimum(rows, len(values) - 1)], np.nan)
    blocks = np.array_split(origins, min(refits, len(origins)))
    forecasts = {
        name: np.concatenate([method(values, int(block[0]) + 1, horizon, block) for block in blocks])
        for name, method in methods.items()
    }
    # A method with gaps would be judged on other rows than the rest.
    complete = {name: forecast for name, forecast in forecasts.items() if _covers(forecast, truth)}
    return Trial(truth, complete, scale, level_units(values, train_rows, origins))


LEVEL_ROWS = 12
"""Latest rows whose mean is the present level: a year of months, so that no season is taken for the level."""


def level_units(values: np.ndarray, learned_rows: int, origins: np.ndarray) -> np.ndarray | None:
    """Return the mean change from row to row at the level of each origin (origins,).

    The change is that of the first `learned_rows` rows, relative to their mean. None for series that are not
    positive, since their level tells nothing of the size of their changes.
    """
    if values[: int(origins.max()) + 1].min() <= 0:
        return None
    relative_change = _mean_change(values, learned_rows) / float(values[:learned_rows].mean())
    levels = [float(values[max(0, origin + 1 - LEVEL_ROWS) : origin + 1].mean()) for origin in origins]
    return relative_change * np.array(levels)


def _mean_change(values: np.ndarray, train_rows: int) -> float:
    """The mean change from row to row of the training rows, or of all rows if these are constant."""
    # Of the training rows: the unit of the errors must not depend on the rows that are forecast. Without a
    # change they have none, and any other than the series' own would let its errors decide for all series.
    return float(np.abs(np.diff(values[:train_rows])).mean()) or float(np.abs(np.diff(values)).mean())


def _covers(forecast: np.ndarray, truth: np.ndarray) -> bool:
    return bool(np.isfinite(forecast[np.isfinite(truth)]).all())


@dataclass(frozen=True)
class Choice:
    """The methods that are averaged, with weights that add up to 1, and the mean errors of all in the trial.

    Weights begin with the largest, errors with the least.
    """

    weights: Mapping[str, float]
    errors: Mapping[str, float]

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(self.weights)

    @property
    def name(self) -> str:
        if len(self.methods) == 1:
            return self.methods[0]
        others = len(self.methods) - MAX_METHODS_TOLD
        more = f" and {others} more" if others > 0 else ""
        return f"weighted mean of {', '.join(self.methods[:MAX_METHODS_TOLD])}{more}"


def choose_methods(trials: Sequence[Trial], is_squared: bool) -> Choice:
    """Weigh the methods by their errors over all series: the better one is in a trial, the more it counts.

    A trial cannot tell methods apart that differ by less than its error, so that a mean is safer than the best.
    The fewer origins there are, the more the mean is that of methods which forecast well in general.
    """
    names = [name for name in trials[0].forecasts if all(name in other.forecasts for other in trials)]
    errors = {
        name: _mean_error([(trial, trial.forecasts[name]) for trial in trials], is_squared) for name in names
    }
    ranked = sorted(errors, key=lambda name: errors[name])
    lowest = errors[ranked[0]]
    if lowest > 0:
        origins = sum(len(trial.truth) for trial in trials)
        power = float(np.clip(1 + origins / ORIGINS_PER_POWER, MIN_WEIGHT_POWER, MAX_WEIGHT_POWER))
        shares = {name: prior_weight(name) * (lowest / errors[name]) ** power for name in ranked}
    else:
        # Where a method makes no error at all, it alone is taken.
        shares = {ranked[0]: 1.0}
    min_share = MIN_WEIGHT * max(shares.values())
    weights = {name: share for name, share in shares.items() if share >= min_share}
    total = sum(weights.values())
    heaviest = sorted(weights, key=lambda name: -weights[name])
    return Choice({name: weights[name] / total for name in heaviest}, {name: errors[name] for name in ranked})


def combine(forecasts: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """Return the weighted mean of the forecasts of some methods, whatever the sum of their weights."""
    total = sum(weights.values())
    mean: np.ndarray = np.sum([weight / total * forecasts[name] for name, weight in weights.items()], axis=0)
    return mean


CROSS_FIT_BLOCKS = 4
"""Blocks of a trial whose errors are those of weights that were chosen on the others."""


def cross_fit_paths(trials: Sequence[Trial], is_squared: bool) -> list[np.ndarray]:
    """Return the weighted means of the methods in each trial (origins, horizon), weighed by its other blocks.

    The errors of weights are smaller on the rows that they were chosen by than on coming ones.
    """
    blocks = [np.array_split(np.arange(len(trial.truth)), CROSS_FIT_BLOCKS) for trial in trials]
    paths = [np.full(trial.truth.shape, np.nan) for trial in trials]
    for number in range(CROSS_FIT_BLOCKS):
        others = [
            trial.take(np.setdiff1d(np.arange(len(trial.truth)), rows[number]))
            for trial, rows in zip(trials, blocks, strict=True)
        ]
        weights = choose_methods(others, is_squared).weights
        for path, trial, rows in zip(paths, trials, blocks, strict=True):
            path[rows[number]] = combine(trial.take(rows[number]).forecasts, weights)
    return paths


def _mean_error(pairs: Sequence[tuple[Trial, np.ndarray]], is_squared: bool) -> float:
    """Return the error relative to the series' mean change, so that series of large numbers do not decide."""
    means = []
    for trial, forecast in pairs:
        misses = np.abs(trial.truth - forecast) / trial.scale
        misses = misses[np.isfinite(misses)]
        means.append(float(np.sqrt((misses**2).mean()) if is_squared else misses.mean()))
    return float(np.mean(means))


def trial_rows(rows: int, horizon: int, seasons: Sequence[int]) -> int:
    """Return the training rows of a trial: the first part of the series, if possible two seasons of it."""
    longest = max((season for season in seasons if 3 * season <= rows), default=1)
    begin = int(rows * (1 - TRIAL_SHARE))
    # The longest season comes twice before the trial, if that leaves the horizon (or a fifth) for it.
    return int(
        np.clip(max(begin, min(2 * longest + 2, rows - max(horizon, rows // 5))), 3, rows - MIN_TRIAL_ROWS)
    )
