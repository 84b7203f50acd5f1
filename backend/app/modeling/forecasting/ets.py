"""Exponential smoothing with a damped trend and a season, fitted once and then applied row by row."""

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from statsmodels.tsa.holtwinters import ExponentialSmoothing

MAX_ROWS = 600
"""Rows to fit on: more take seconds, and old ones hardly weigh."""
MIN_ROWS = 20
"""Rows below which the smoothing weights cannot be estimated."""


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
        """Fit by the least squared error one row ahead (statsmodels); the state is the one before the first
        row."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a search that stopped early is still a forecast
            model = ExponentialSmoothing(
                values,
                trend="add",
                damped_trend=True,
                seasonal="add" if season else None,
                seasonal_periods=season,
                initialization_method="estimated" if season else "heuristic",
            )
            params = model.fit().params
        return cls(
            alpha=float(params["smoothing_level"]),
            # statsmodels gives nan for a weight that it did not fit.
            beta=float(np.nan_to_num(params["smoothing_trend"])),
            gamma=float(np.nan_to_num(params["smoothing_seasonal"])) if season else 0.0,
            phi=float(params["damping_trend"]),
            level=float(params["initial_level"]),
            trend=float(params["initial_trend"]),
            seasons=tuple(float(value) for value in params["initial_seasons"]) if season else (),
        )

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
