"""Naive forecasts: the last value, its drift, and the last season."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

DAY_S = 86_400.0
SEASONS_S: tuple[float, ...] = (DAY_S, 7 * DAY_S, 30.4375 * DAY_S * 3, 365.25 * DAY_S)
"""Season lengths to try, in seconds: a day, a week, a quarter, a year."""
MAX_SEASON_ROWS = 1_000
"""Longest season: bounds the rows of history that a model stores."""
MIN_SEASONS = 3
"""Seasons that a series must cover."""
MAX_ERROR_RATIO = 0.9
"""A season is accepted if its mean error is below this multiple of that of the last value."""
TIE_RATIO = 1.02
"""Among seasons within this ratio of the lowest error the shortest is taken: a week also repeats after two."""


def last_value(values: np.ndarray, horizon: int) -> np.ndarray:
    """Forecast of each row `horizon` rows ahead: the present value."""
    return values


def drift(values: np.ndarray, horizon: int) -> np.ndarray:
    """Forecast of each row: the present value plus the mean step since the first row times `horizon`."""
    rows = np.arange(len(values))
    return np.asarray(values + horizon * (values - values[0]) / np.maximum(rows, 1))


def seasonal_naive(values: np.ndarray, horizon: int, season: int) -> np.ndarray:
    """Forecast of each row: the latest value at the same position of the season; nan in the first season."""
    # Whole seasons before the forecast row, as few as lead to a known one.
    lag = season * int(np.ceil(horizon / season)) - horizon
    forecast = np.full(len(values), np.nan)
    forecast[lag:] = values[: max(len(values) - lag, 0)]
    return forecast


def detect_season(values: np.ndarray, horizons: Sequence[int], spacing_s: float) -> int | None:
    """The season in rows with the best seasonal naive forecast of these values; None if none improves on the
    last.

    `horizons`: rows ahead whose mean error counts; `spacing_s`: median seconds between rows.
    """
    last_value_error = _mean_error(lambda rows: last_value(values, rows), values, horizons)
    errors = {
        season: _mean_error(partial(seasonal_naive, values, season=season), values, horizons)
        for season in _candidates(len(values), spacing_s)
    }
    lowest = min(errors.values(), default=np.inf)
    # Written so that nan, where nothing could be forecast, also means no season.
    if not lowest < MAX_ERROR_RATIO * last_value_error:
        return None
    # Candidates come from the shortest on.
    return next(season for season, error in errors.items() if error <= TIE_RATIO * lowest)


def _candidates(rows: int, spacing_s: float) -> Sequence[int]:
    lengths = {round(season_s / spacing_s) for season_s in SEASONS_S} if spacing_s > 0 else set()
    return sorted(season for season in lengths if 2 <= season <= min(MAX_SEASON_ROWS, rows // MIN_SEASONS))


def _mean_error(forecast: Callable[[int], np.ndarray], values: np.ndarray, horizons: Sequence[int]) -> float:
    errors = np.concatenate([np.abs(forecast(rows)[:-rows] - values[rows:]) for rows in horizons])
    return float(np.nanmean(errors)) if np.isfinite(errors).any() else np.inf
