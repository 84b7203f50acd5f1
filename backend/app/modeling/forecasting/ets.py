"""Exponential smoothing with a damped trend and a season, fitted once and then applied row by row."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np

MAX_ROWS = 600
"""Rows to fit on: more take seconds, and old ones hardly weigh."""
MIN_ROWS = 8
"""Rows below which the smoothing weights cannot be estimated."""
LEVEL_WEIGHTS = (0.02, 0.07, 0.15, 0.28, 0.44, 0.6, 0.78, 0.95)
"""Weights of the newest value in the level that are tried first."""
TREND_RATIOS = (0.0, 0.05, 0.2, 0.6)
"""Weights of the newest change of the level in the trend that are tried first."""
SEASON_RATIOS = (0.0, 0.05, 0.15, 0.4, 0.7)
"""Weights of the newest value in its season that are tried first, as shares of what the level leaves."""
DAMPINGS = (0.8, 0.92, 0.98)
"""Factors by which a trend shrinks with each row: below 0.8 it is none, above 0.98 it overshoots."""
LIMITS = ((0.005, 0.995), (0.0, 0.95), (0.0, 0.95), (0.8, 0.98))
"""Least and largest of each of the four kinds of weights."""
REFINEMENTS = (0.08, 0.03)
"""Distances of the weights that are tried around the best: closer ones change no forecast visibly."""
INITIAL_ROWS, INITIAL_SEASONS = 10, 3
"""Rows, or seasons of rows, whose line and mean season are the initial state."""


def select_recent(values: np.ndarray, season: int | None) -> np.ndarray:
    """Select the rows to fit on: the latest, at least four seasons."""
    return values[-max(MAX_ROWS, 4 * (season or 0)) :]


@dataclass(frozen=True)
class Smoothing:
    """The additive damped method (Hyndman & Athanasopoulos 2021, chapter 8): weights and initial state.

    `seasons`: one value per position in the season, empty without a season.
    """

    alpha: float
    beta: float
    gamma: float
    phi: float
    level: float
    trend: float
    seasons: tuple[float, ...]

    @classmethod
    def fit(cls, values: np.ndarray, season: int | None) -> Self:
        """Fit by the least squared error one row ahead; the state is the one before the first row.

        Sets of weights are tried all at once, first on a grid, then closer and closer around the best. That is
        ten times faster than a search by gradients, which also fits every season of the initial state to noise.
        """
        candidates = _grid(LEVEL_WEIGHTS, TREND_RATIOS, SEASON_RATIOS if season else (0.0,), DAMPINGS)
        lowest = np.inf
        for initial in _initial_states(values, season):
            errors = _squared_errors(values, candidates, initial)
            if errors.min() < lowest:
                lowest, state, best = errors.min(), initial, candidates[:, int(errors.argmin())]
        for step in REFINEMENTS:
            closer = [_around(weight, step, *limits) for weight, limits in zip(best, LIMITS, strict=True)]
            candidates = _grid(closer[0], closer[1], closer[2] if season else (0.0,), closer[3])
            best = candidates[:, int(_squared_errors(values, candidates, state).argmin())]
        level, trend, seasons = state
        alpha, trend_ratio, season_ratio, phi = best.tolist()
        gamma = season_ratio * (1 - alpha) if season else 0.0
        return cls(alpha, trend_ratio, gamma, phi, level, trend, tuple(seasons.tolist()) if season else ())

    def forecast(self, values: np.ndarray, horizon: int) -> np.ndarray:
        """Forecast `horizon` rows ahead at each row, from this row and those before it.

        `values` begin at the first row that was fitted on.
        """
        # The damped trend adds less with each step.
        ahead = sum(self.phi**step for step in range(1, horizon + 1))
        level, trend, seasons = self.level, self.trend, list(self.seasons)
        length = len(seasons)
        forecasts = np.empty(len(values))
        for row, value in enumerate(values):
            position = row % length if length else 0
            seasonal = seasons[position] if length else 0.0
            expected = level + self.phi * trend
            new_level = self.alpha * (value - seasonal) + (1 - self.alpha) * expected
            trend = self.beta * (new_level - level) + (1 - self.beta) * self.phi * trend
            if length:
                seasons[position] = self.gamma * (value - expected) + (1 - self.gamma) * seasonal
            level = new_level
            forecasts[row] = level + ahead * trend + (seasons[(row + horizon) % length] if length else 0.0)
        return forecasts

    def forecast_paths(self, values: np.ndarray, horizon: int, origins: np.ndarray) -> np.ndarray:
        """Forecast each step up to the horizon at some rows (origins, horizon), as `forecast` does."""
        level, trend, length = self.level, self.trend, len(self.seasons)
        # The state at every row is kept, so that paths from many origins need one pass.
        levels, trends, places = np.empty(len(values)), np.empty(len(values)), np.zeros(len(values))
        initial = np.asarray(self.seasons) if length else np.zeros(1)
        for row, value in enumerate(values.tolist()):
            seasonal = (places[row - length] if row >= length else initial[row]) if length else 0.0
            expected = level + self.phi * trend
            new_level = self.alpha * (value - seasonal) + (1 - self.alpha) * expected
            trend = self.beta * (new_level - level) + (1 - self.beta) * self.phi * trend
            places[row] = self.gamma * (value - expected) + (1 - self.gamma) * seasonal
            level = new_level
            levels[row], trends[row] = level, trend
        steps = np.arange(1, horizon + 1)
        forecasts: np.ndarray = levels[origins][:, None] + trends[origins][:, None] * np.cumsum(self.phi**steps)
        if length:
            # The latest row at the same position of the season that the origin already knows.
            updated = origins[:, None] + steps - length * np.ceil(steps / length).astype(int)
            forecasts = forecasts + np.where(
                updated >= 0, places[np.maximum(updated, 0)], initial[(origins[:, None] + steps) % length]
            )
        return forecasts


def _grid(*weights: Sequence[float]) -> np.ndarray:
    """Return every combination of weights (kinds of weights, combinations)."""
    return np.array(list(product(*weights))).T


def _around(weight: float, step: float, lowest: float, highest: float) -> list[float]:
    return sorted({float(np.clip(weight + change, lowest, highest)) for change in (-step, 0.0, step)})


State = tuple[float, float, np.ndarray]
"""Level, trend and seasons before the first row."""


def _initial_states(values: np.ndarray, season: int | None) -> list[State]:
    """Return states before the first row: with the season of the first rows, or with that of all."""
    count = min(len(values), max(INITIAL_ROWS, INITIAL_SEASONS * (season or 0)))
    if not season:
        return [_regress_state(values[:count], np.zeros(1))]
    states = [_regress_state(values[:count], None, season)]
    if len(values) > count:
        # A season that hardly changes is known best from all rows; one that does is soon forgotten.
        mean = np.convolve(values, np.ones(season) / season, mode="valid")
        deviations = values[season // 2 :][: len(mean)] - mean
        places = (np.arange(len(deviations)) + season // 2) % season
        profile = np.bincount(places, deviations, season) / np.maximum(np.bincount(places, minlength=season), 1)
        states.append(_regress_state(values[:count], profile - profile.mean()))
    return states


def _regress_state(values: np.ndarray, seasons: np.ndarray | None, season: int = 1) -> State:
    """Fit a line and, unless it is given, a season to the first rows."""
    rows = np.arange(len(values))
    columns = [np.ones(len(values)), rows - (len(values) - 1) / 2]
    if seasons is None:
        # Centred, so that the constant is the level.
        columns += [(rows % season == place) - 1.0 / season for place in range(season)]
    else:
        values = values - seasons[rows % len(seasons)]
    matrix = np.column_stack(columns)
    penalty = 1e-6 * len(values) * np.eye(matrix.shape[1])
    coefficients = np.linalg.solve(matrix.T @ matrix + penalty, matrix.T @ values)
    trend = float(coefficients[1])
    level = float(coefficients[0]) - trend * (len(values) + 1) / 2
    fitted = coefficients[2:] - coefficients[2:].mean() if seasons is None else seasons
    return level, trend, fitted


def _squared_errors(values: np.ndarray, candidates: np.ndarray, state: State) -> np.ndarray:
    """Return the squared error one row ahead of each set of weights (candidates,)."""
    alpha, trend_ratio, season_ratio, phi = candidates
    beta, gamma = alpha * trend_ratio, season_ratio * (1 - alpha)
    level, trend = np.full(len(alpha), state[0]), np.full(len(alpha), state[1])
    places = np.repeat(state[2][:, None], len(alpha), axis=1)
    total, length = np.zeros(len(alpha)), len(places)
    for row, value in enumerate(values.tolist()):
        trend = phi * trend
        level = level + trend
        place = places[row % length]
        error = value - level - place
        level += alpha * error
        trend += beta * error
        place += gamma * error
        total += error * error
    return total
