"""Forecasts that need no model: the last value, its drift, and the last season."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

DAY_S = 86_400.0
SEASONS_S: tuple[float, ...] = (DAY_S, 7 * DAY_S, 30.4375 * DAY_S * 3, 365.25 * DAY_S)
"""What comes again: days, weeks, quarters, years."""
MAX_SEASON_ROWS = 1_000
MIN_SEASONS = 3
MAX_ERROR_RATIO = 0.9
"""A season must make errors this much smaller than the last value does."""
TIE_RATIO = 1.02
"""Of seasons that are about as good the shortest: two weeks are also two."""


def last_value(values: np.ndarray, horizon: int) -> np.ndarray:
    """At each row, what `horizon` rows later will be: the same as now."""
    return values


def drift(values: np.ndarray, horizon: int) -> np.ndarray:
    """The value now, and the mean step since the first row for each row ahead."""
    rows = np.arange(len(values))
    return np.asarray(values + horizon * (values - values[0]) / np.maximum(rows, 1))


def seasonal_naive(values: np.ndarray, horizon: int, season: int) -> np.ndarray:
    """The latest known value at the same place of the season; nan before a season has passed."""
    back = season * int(np.ceil(horizon / season)) - horizon
    made = np.full(len(values), np.nan)
    made[back:] = values[: max(len(values) - back, 0)]
    return made


def detect_season(values: np.ndarray, horizons: Sequence[int], spacing_s: float) -> int | None:
    """How many rows a season has, by which of the usual ones foretells these rows best; None where none helps.

    `horizons`: rows ahead, of which the mean error counts; `spacing_s`: usual seconds between rows.
    """
    plain = _error(lambda rows: last_value(values, rows), values, horizons)
    errors = {
        season: _error(partial(seasonal_naive, values, season=season), values, horizons)
        for season in _candidates(len(values), spacing_s)
    }
    least = min(errors.values(), default=np.inf)
    if not least < MAX_ERROR_RATIO * plain:
        return None
    return next(season for season, error in errors.items() if error <= TIE_RATIO * least)


def _candidates(rows: int, spacing_s: float) -> Sequence[int]:
    lengths = {round(season_s / spacing_s) for season_s in SEASONS_S} if spacing_s > 0 else set()
    return sorted(season for season in lengths if 2 <= season <= min(MAX_SEASON_ROWS, rows // MIN_SEASONS))


def _error(say: Callable[[int], np.ndarray], values: np.ndarray, horizons: Sequence[int]) -> float:
    off = np.concatenate([np.abs(say(rows)[:-rows] - values[rows:]) for rows in horizons])
    return float(np.nanmean(off)) if np.isfinite(off).any() else np.inf
