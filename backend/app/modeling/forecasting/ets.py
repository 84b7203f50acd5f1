"""Exponential smoothing with a damped trend and a season, learned once and then followed row by row."""

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from statsmodels.tsa.holtwinters import ExponentialSmoothing

MAX_ROWS = 600
MIN_ROWS = 20


def recent(values: np.ndarray, season: int | None) -> np.ndarray:
    """The rows to learn from: the latest, four seasons at least."""
    return values[-max(MAX_ROWS, 4 * (season or 0)) :]


@dataclass(frozen=True)
class Smoothing:
    """The additive damped method (Hyndman & Athanasopoulos 2021, chapter 8): its weights, and the state before
    the first row. `seasons`: one a place of the season, none without a season."""

    alpha: float
    beta: float
    gamma: float
    phi: float
    level: float
    trend: float
    seasons: tuple[float, ...]

    @classmethod
    def learn(cls, values: np.ndarray, season: int | None) -> Self:
        """By the least squared error one row ahead (statsmodels); the state is the one before the first row."""
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
            found = model.fit().params
        return cls(
            alpha=float(found["smoothing_level"]),
            beta=float(np.nan_to_num(found["smoothing_trend"])),
            gamma=float(np.nan_to_num(found["smoothing_seasonal"])) if season else 0.0,
            phi=float(found["damping_trend"]),
            level=float(found["initial_level"]),
            trend=float(found["initial_trend"]),
            seasons=tuple(float(each) for each in found["initial_seasons"]) if season else (),
        )

    def follow(self, values: np.ndarray, horizon: int) -> np.ndarray:
        """At each row what it says of `horizon` rows later, from this row and those before it.

        `values` begin where those begin that it was learned from.
        """
        ahead = sum(self.phi**step for step in range(1, horizon + 1))
        level, trend, seasons = self.level, self.trend, list(self.seasons)
        length = len(seasons)
        said = np.empty(len(values))
        for row, value in enumerate(values):
            place = row % length if length else 0
            before = seasons[place] if length else 0.0
            carried = level + self.phi * trend
            now = self.alpha * (value - before) + (1 - self.alpha) * carried
            trend = self.beta * (now - level) + (1 - self.beta) * self.phi * trend
            if length:
                seasons[place] = self.gamma * (value - carried) + (1 - self.gamma) * before
            level = now
            said[row] = level + ahead * trend + (seasons[(row + horizon) % length] if length else 0.0)
        return said
