"""A table's series: which rows are one, how far apart they lie, and whether a season comes again in them."""

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
"""Series that tell the season of all: the longest ones."""
MAX_SEASON_STEPS = 8


def split_series(frame: pd.DataFrame, problem: Problem) -> list[np.ndarray]:
    """Positions of each series in order of time; one series where nothing groups the rows."""
    order = frame[problem.time_column].argsort(kind="stable").to_numpy()
    if not problem.group_column:
        return [order]
    groups = frame[problem.group_column].iloc[order].to_numpy()
    return [rows.to_numpy() for _, rows in pd.Series(order).groupby(groups, sort=False)]


def detect_series_interval(
    frame: pd.DataFrame, problem: Problem, series: Sequence[np.ndarray]
) -> SamplingInterval | None:
    """How the rows of the longest series follow each other."""
    return detect_interval(frame[problem.time_column].to_numpy()[max(series, key=len)])


def series_values(frame: pd.DataFrame, problem: Problem, rows: np.ndarray) -> np.ndarray:
    """The target along a series, gaps filled with the value before."""
    values: np.ndarray = to_float(frame[problem.target]).iloc[rows].ffill().bfill().to_numpy()
    return values


def list_horizons(problem: Problem) -> tuple[int, ...]:
    """How far ahead, in rows: the horizon, or of every step some."""
    if not problem.every_step:
        return (problem.horizon or 1,)
    steps = training_steps(problem.horizon or 1)
    return steps[:: max(1, len(steps) // MAX_SEASON_STEPS)]


def detect_common_season(
    frame: pd.DataFrame, problem: Problem, series: Sequence[np.ndarray], spacing_s: float
) -> int | None:
    """The season of most of the longest series; None where most have none."""
    horizons = list_horizons(problem)
    longest = sorted(series, key=len, reverse=True)[:MAX_SEASON_SERIES]
    found = [
        detect_season(series_values(frame, problem, rows), horizons, spacing_s)
        for rows in longest
        if len(rows) > 2 * max(horizons)
    ]
    return Counter(found).most_common(1)[0][0] if found else None
