"""Forecasts without a model on the hold-out, each series for itself: what a learned one must beat."""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from app.modeling.forecasting.ets import FEWEST_ROWS, Smoothing, recent
from app.modeling.forecasting.naive import drift, last_value, season_of, seasonal_naive
from app.modeling.operations.step import quiet_float
from app.modeling.problem import Outlook, Problem

MOST_SERIES = 10
"""Of more series exponential smoothing is not learned: each takes about half a second."""

Said = dict[str, np.ndarray]


def references(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> Said:
    """Name -> what it says of each row of the hold-out; nothing for what is no forecast of a number.

    `last season` is only there where a season foretells the training rows; `exponential smoothing` where there
    are at most `MOST_SERIES` series.
    """
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return {}
    whole = pd.concat([train, holdout], ignore_index=True)
    groups = whole[problem.group_column] if problem.group_column else pd.Series(0, index=whole.index)
    learns = groups.nunique() <= MOST_SERIES
    said: Said = {}
    for rows in _series(whole, groups, problem):
        values = quiet_float(whole[problem.target]).iloc[rows].ffill().bfill().to_numpy()
        taught = int((rows < len(train)).sum())
        if not taught or np.isnan(values).any():
            continue
        times = whole[problem.time_column].iloc[rows]
        for name, forecast in _each(values, taught, problem.horizon, _spacing_s(times), learns):
            said.setdefault(name, np.full(len(whole), np.nan))[rows] = forecast
    held = {name: forecast[len(train) :] for name, forecast in said.items()}
    return {name: forecast for name, forecast in held.items() if np.isfinite(forecast).mean() > 0.9}


def _series(whole: pd.DataFrame, groups: pd.Series, problem: Problem) -> Iterator[np.ndarray]:
    """Positions of each series in order of time."""
    order = whole[problem.time_column].argsort(kind="stable").to_numpy()
    for rows in pd.Series(order).groupby(groups.iloc[order].to_numpy(), sort=False):
        yield rows[1].to_numpy()


def _spacing_s(times: pd.Series) -> float:
    steps = np.diff(times.to_numpy()).astype("timedelta64[s]").astype(float)
    return float(np.median(steps)) if len(steps) else 0.0


def _each(
    values: np.ndarray, taught: int, horizon: int, spacing_s: float, learns: bool
) -> Iterator[tuple[str, np.ndarray]]:
    """`taught`: of the values, how many lie in the training rows."""
    plain: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {"last value": last_value, "drift": drift}
    for name, forecast in plain.items():
        yield name, forecast(values, horizon)
    known = values[:taught]
    season = season_of(known, horizon, spacing_s) if taught > 2 * horizon else None
    if season:
        yield "last season", seasonal_naive(values, horizon, season)
    if learns and taught >= max(FEWEST_ROWS, 2 * (season or 0)) and float(known.std()) > 0:
        kept = recent(known, season)
        before = np.full(taught - len(kept), np.nan)
        smoothed = Smoothing.learn(kept, season).follow(values[len(before) :], horizon)
        yield "exponential smoothing", np.concatenate([before, smoothed])
