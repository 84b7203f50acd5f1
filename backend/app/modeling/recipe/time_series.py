"""The time series of a table: their rows, sampling interval and season."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from app.modeling.problem.forecast_steps import training_steps
from app.modeling.problem.problem import Problem
from app.modeling.recipe.naive_forecasts import detect_season
from app.modeling.recipe.sampling_interval import SamplingInterval, detect_interval
from app.modeling.table.numeric import to_float

MAX_SEASON_SERIES = 5
"""Longest series that vote on the common season: bounds its cost."""
MAX_SEASON_STEPS = 8
"""Steps ahead that a season is judged by, of a forecast of every step."""


def split_series(frame: pd.DataFrame, problem: Problem) -> list[np.ndarray]:
    """Row positions of each series in time order; a single series without a group column."""
    # Stable: rows of one time stay in the order of the table.
    order = frame[problem.time_column].argsort(kind="stable").to_numpy()
    if not problem.group_column:
        return [order]
    groups = frame[problem.group_column].iloc[order].to_numpy()
    return [rows.to_numpy() for _, rows in pd.Series(order).groupby(groups, sort=False)]


def detect_series_interval(
    frame: pd.DataFrame, problem: Problem, series: Sequence[np.ndarray]
) -> SamplingInterval | None:
    """Detect the sampling interval of the longest series."""
    return detect_interval(frame[problem.time_column].to_numpy()[max(series, key=len)])


def series_values(frame: pd.DataFrame, problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The target along a series (rows,), gaps filled with the previous value."""
    # Backwards only before the first value, where nothing else is known.
    values: np.ndarray = to_float(frame[problem.target]).iloc[rows].ffill().bfill().to_numpy()
    return values


def list_horizons(problem: Problem) -> tuple[int, ...]:
    """Steps ahead to judge a season by: the horizon, or some of every step."""
    if not problem.every_step:
        return (problem.horizon or 1,)
    steps = training_steps(problem.horizon or 1)
    return steps[:: max(1, len(steps) // MAX_SEASON_STEPS)]


def detect_common_season(
    frame: pd.DataFrame, problem: Problem, series: Sequence[np.ndarray], spacing_s: float
) -> int | None:
    """The most frequent season of the longest series; None if most have none."""
    horizons = list_horizons(problem)
    # Short series hardly repeat a season, so their votes are noise.
    longest = sorted(series, key=len, reverse=True)[:MAX_SEASON_SERIES]
    seasons = [
        detect_season(series_values(frame, problem, rows), horizons, spacing_s)
        for rows in longest
        if len(rows) > 2 * max(horizons)
    ]
    return Counter(seasons).most_common(1)[0][0] if seasons else None
