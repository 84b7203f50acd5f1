"""The theta method: simple exponential smoothing with half of the trend of all rows."""

import numpy as np
from scipy.signal import lfilter

LEVEL_WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.99)
"""Weights of the newest value that are tried for the level."""


def forecast_theta(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    """Forecast from each origin (origins, horizon), in the form of Hyndman & Billah (2003).

    The weight of the level is the best on the training rows; the trend is that of all rows up to the origin.
    """
    smoothed = {weight: _smooth(values, weight) for weight in LEVEL_WEIGHTS}
    errors = {
        weight: float(((levels[: train_rows - 1] - values[1:train_rows]) ** 2).sum())
        for weight, levels in smoothed.items()
    }
    weight = min(errors, key=lambda name: errors[name])
    slopes = _slopes(values)[origins][:, None] / 2
    # A level lags behind a trend by so many rows.
    lag = (1 - (1 - weight) ** (origins[:, None] + 1)) / weight - 1
    forecasts: np.ndarray = smoothed[weight][origins][:, None] + slopes * (np.arange(1, horizon + 1) + lag)
    return forecasts


def _smooth(values: np.ndarray, weight: float) -> np.ndarray:
    """Return the level after each row (rows,), which begins with the mean of the first rows."""
    first = float(values[:5].mean())
    levels: np.ndarray = lfilter([weight], [1.0, weight - 1.0], values, zi=[(1 - weight) * first])[0]
    return levels


def _slopes(values: np.ndarray) -> np.ndarray:
    """Return the slope of the line through all rows up to each row (rows,); the first has none."""
    rows = np.arange(len(values), dtype=float)
    counts = rows + 1
    # Around the first value, or sums of large numbers would lose their digits.
    changes = values - values[0]
    covariance = np.cumsum(rows * changes) - np.cumsum(rows) * np.cumsum(changes) / counts
    variance = np.cumsum(rows**2) - np.cumsum(rows) ** 2 / counts
    slopes: np.ndarray = np.divide(covariance, variance, out=np.zeros(len(values)), where=variance > 0)
    return slopes
