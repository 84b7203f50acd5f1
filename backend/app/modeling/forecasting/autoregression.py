"""Autoregression of a series or of its changes, by Burg's method, which is stable on short series."""

import numpy as np

MAX_ORDER = 6
"""Rows back that count at most: longer memories are those of seasons, which are fitted apart."""
MIN_ROWS_PER_ORDER = 6
"""Rows for each coefficient at least."""
MAX_FITTED_ROWS = 1_500
"""Latest rows to fit on: older ones say little of the present."""


def forecast_autoregression(
    values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray
) -> np.ndarray:
    """Forecast from each origin (origins, horizon): the series returns to the mean of the training rows."""
    mean = float(values[:train_rows][-MAX_FITTED_ROWS:].mean())
    return mean + _continue(values - mean, train_rows, horizon, origins)


def forecast_changes(values: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    """Forecast from each origin (origins, horizon) by an autoregression of the changes from row to row."""
    changes = np.diff(values, prepend=values[0])
    learned = changes[1:train_rows][-MAX_FITTED_ROWS:]
    mean = _shrunk_mean(learned)
    ahead = mean + _continue(changes - mean, train_rows, horizon, origins)
    forecasts: np.ndarray = values[origins][:, None] + np.cumsum(ahead, axis=1)
    return forecasts


def _shrunk_mean(changes: np.ndarray) -> float:
    """Return the mean change, the less of it the less certain it is: drifts of chance last no longer."""
    mean, variance = float(changes.mean()), float(changes.var()) / len(changes)
    return mean * mean**2 / (mean**2 + variance) if mean else 0.0


def _continue(deviations: np.ndarray, train_rows: int, horizon: int, origins: np.ndarray) -> np.ndarray:
    coefficients = fit_burg(deviations[:train_rows][-MAX_FITTED_ROWS:])
    order = len(coefficients)
    if not order:
        return np.zeros((len(origins), horizon))
    # The newest first; rows before the first one count as the mean.
    lags = origins[:, None] - np.arange(order)
    recent = np.where(lags >= 0, deviations[np.maximum(lags, 0)], 0.0)
    forecasts = np.empty((len(origins), horizon))
    for step in range(horizon):
        forecasts[:, step] = recent @ coefficients
        recent = np.column_stack([forecasts[:, step], recent[:, :-1]])
    return forecasts


def fit_burg(values: np.ndarray) -> np.ndarray:
    """Fit coefficients (order,), the newest row first, of the order with the least corrected AIC, maybe 0."""
    rows = len(values)
    power = float((values**2).mean()) if rows else 0.0
    best = coefficients = np.zeros(0)
    if power <= 0:
        return best
    lowest = rows * np.log(power)
    forward, backward = values[1:], values[:-1]
    for order in range(1, min(MAX_ORDER, rows // MIN_ROWS_PER_ORDER) + 1):
        size = float(forward @ forward + backward @ backward)
        if size <= 0:
            break
        reflection = 2 * float(forward @ backward) / size
        coefficients = np.append(coefficients - reflection * coefficients[::-1], reflection)
        power *= 1 - reflection**2
        criterion = rows * np.log(max(power, 1e-300)) + 2 * order * rows / max(rows - order - 1, 1)
        if criterion < lowest:
            best, lowest = coefficients, criterion
        forward, backward = (forward - reflection * backward)[1:], (backward - reflection * forward)[:-1]
    return best
