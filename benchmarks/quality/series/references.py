"""Reference forecasts: last value, seasonal naive for every season, and damped exponential smoothing."""

import warnings
from collections.abc import Sequence

import numpy as np
from statsmodels.tools.sm_exceptions import ConvergenceWarning
from statsmodels.tsa.holtwinters import ExponentialSmoothing

LAST_VALUE, SMOOTHING = "last value", "exponential smoothing"
MAX_SMOOTHED_SEASON = 24
"""Longest season of smoothing: the states of longer ones cannot be estimated."""
MAX_SMOOTHED_ROWS = 1_000
"""Latest rows that smoothing is fitted to: with more a single fit takes seconds, and the level forgets them."""
MIN_SMOOTHED_ROWS = 10
"""Rows below which a trend cannot be told from noise."""


def make_references(past: np.ndarray, seasons: Sequence[int], horizon: int) -> dict[str, np.ndarray]:
    """Forecast the rows after `past` (rows,) of one series: name -> (horizon,). Gaps take the value before."""
    values = _fill(past)
    if not len(values):
        return {}
    forecasts = {LAST_VALUE: np.repeat(values[-1], horizon)}
    for season in seasons:
        if len(values) >= season:
            steps = np.arange(horizon) % season
            forecasts[f"value {season} before"] = values[-season:][steps]
    smoothed = _smooth(values, seasons, horizon)
    return forecasts if smoothed is None else {**forecasts, SMOOTHING: smoothed}


def _fill(past: np.ndarray) -> np.ndarray:
    finite = np.flatnonzero(np.isfinite(past))
    if not len(finite):
        return past[:0]
    observed = past[finite[0] :]
    last_positions = np.maximum.accumulate(np.where(np.isfinite(observed), np.arange(len(observed)), 0))
    filled: np.ndarray = observed[last_positions]
    return filled


def _smooth(values: np.ndarray, seasons: Sequence[int], horizon: int) -> np.ndarray | None:
    """Additive smoothing with a damped trend, and the longest season that it can estimate from two rounds."""
    recent = values[-MAX_SMOOTHED_ROWS:]
    if len(recent) < MIN_SMOOTHED_ROWS or np.ptp(recent) == 0:
        return None
    usable = [season for season in seasons if season <= MAX_SMOOTHED_SEASON and len(recent) > 2 * season]
    season = max(usable, default=None)
    with warnings.catch_warnings():
        # A fit that did not converge is still a forecast, and judged as one.
        for category in (ConvergenceWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        model = ExponentialSmoothing(
            recent,
            trend="add",
            damped_trend=True,
            seasonal="add" if season else None,
            seasonal_periods=season,
            initialization_method="estimated",
        )
        forecast = np.asarray(model.fit().forecast(horizon), dtype=float)
    return forecast if np.isfinite(forecast).all() else None
