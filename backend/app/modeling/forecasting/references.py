"""Forecasts without a model on the hold-out, each series for itself: what a learned one must beat."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from app.modeling.forecasting.ets import MIN_ROWS, Smoothing, recent
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.naive_forecasts import detect_season, drift, last_value, seasonal_naive
from app.modeling.recipe.series import detect_series_interval, list_horizons, series_values, split_series
from app.modeling.recipe.volatility import ewma_volatility, realised_volatility

MAX_SERIES = 10
"""Of more series exponential smoothing is not learned: each takes about half a second."""

Said = dict[str, np.ndarray]


def references(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> Said:
    """Name -> what it says of each row of the hold-out; nothing for what is no forecast of a number.

    `last season` is only there where a season foretells the training rows; `exponential smoothing` where there
    are at most `MAX_SERIES` series. The hold-out's rows may ask about a step ahead each; `train` is the table.
    """
    if problem.outlook is Outlook.VOLATILITY:
        return _volatilities(train, holdout, problem)
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return {}
    if not has_horizon_rows(holdout):
        alone = _each_step(train, holdout, problem, (problem.horizon,))
        return {name: said[:, 0] for name, said in alone.items()}
    once, back = collapse_origins(holdout)
    steps, place = np.unique(holdout[ROWS_AHEAD].to_numpy(), return_inverse=True)
    whole = _each_step(train, once, problem, [int(step) for step in steps])
    return {name: said[back, place] for name, said in whole.items()}


def _volatilities(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> Said:
    """What was last realised over as long a time, and the RiskMetrics average."""
    horizon, whole = problem.horizon or 1, pd.concat([train, holdout], ignore_index=True)
    said = {name: np.full(len(whole), np.nan) for name in ("last volatility", "weighted average")}
    for rows in split_series(whole, problem):
        values = pd.Series(series_values(whole, problem, rows))
        said["last volatility"][rows] = realised_volatility(values, horizon).to_numpy()
        said["weighted average"][rows] = ewma_volatility(values, horizon).to_numpy()
    held = {name: each[len(train) :] for name, each in said.items()}
    return {name: each for name, each in held.items() if np.isfinite(each).mean() > 0.9}


def _each_step(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem, steps: Sequence[int]) -> Said:
    """Name -> (rows of the hold-out, steps)."""
    whole = pd.concat([train, holdout], ignore_index=True)
    series = split_series(whole, problem)
    learns = len(series) <= MAX_SERIES
    said: Said = {}
    for rows in series:
        values = series_values(whole, problem, rows)
        taught = int((rows < len(train)).sum())
        if not taught or np.isnan(values).any():
            continue
        season, rhythm = None, detect_series_interval(whole, problem, [rows])
        if rhythm and taught > 2 * max(steps):
            season = detect_season(values[:taught], list_horizons(problem), rhythm.spacing_s)
        for name, forecast in _each(values, taught, season, learns):
            table = said.setdefault(name, np.full((len(whole), len(steps)), np.nan))
            for place, step in enumerate(steps):
                table[rows, place] = forecast(step)
    held = {name: table[len(train) :] for name, table in said.items()}
    return {name: table for name, table in held.items() if np.isfinite(table).mean() > 0.9}


def _each(
    values: np.ndarray, taught: int, season: int | None, learns: bool
) -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Of a series each reference, as what it says so many rows ahead of every row. `taught`: how many of the
    values lie in the training rows."""
    yield "last value", lambda step: last_value(values, step)
    yield "drift", lambda step: drift(values, step)
    if season:
        yield "last season", lambda step: seasonal_naive(values, step, season)
    known = values[:taught]
    if learns and taught >= max(MIN_ROWS, 2 * (season or 0)) and float(known.std()) > 0:
        kept = recent(known, season)
        before = np.full(taught - len(kept), np.nan)
        smoothing = Smoothing.learn(kept, season)
        followed = values[len(before) :]
        yield "exponential smoothing", lambda step: np.concatenate([before, smoothing.follow(followed, step)])
