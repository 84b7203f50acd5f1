"""Model-free reference forecasts on the hold-out, made for each series separately."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from app.modeling.forecasting.ets import MIN_ROWS, Smoothing, select_recent
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.naive_forecasts import detect_season, drift, last_value, seasonal_naive
from app.modeling.recipe.time_series import detect_series_interval, list_horizons, series_values, split_series
from app.modeling.recipe.volatility import ewma_volatility, realised_volatility

MAX_SERIES = 10
"""With more series exponential smoothing is not fitted: each takes about half a second."""

MIN_FINITE_SHARE = 0.9
"""Share of rows that a reference must forecast to be reported."""

ReferenceForecasts = dict[str, np.ndarray]
"""Name of the reference -> its forecasts (rows,) or (rows, steps)."""


def forecast_references(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> ReferenceForecasts:
    """Forecast each hold-out row (rows,) by each reference; empty for problems that do not forecast a number.

    `last season` is only made if a season predicts the training rows; `exponential smoothing` only for up to
    `MAX_SERIES` series. The hold-out's rows may be expanded by step; `train` is the unexpanded table.
    """
    if problem.outlook is Outlook.VOLATILITY:
        return _volatilities(train, holdout, problem)
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return {}
    if not has_horizon_rows(holdout):
        forecasts = _forecast_steps(train, holdout, problem, (problem.horizon,))
        return {name: table[:, 0] for name, table in forecasts.items()}
    unexpanded, back = collapse_origins(holdout)
    steps, step_index = np.unique(holdout[ROWS_AHEAD].to_numpy(), return_inverse=True)
    by_step = _forecast_steps(train, unexpanded, problem, [int(step) for step in steps])
    return {name: table[back, step_index] for name, table in by_step.items()}


def _volatilities(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> ReferenceForecasts:
    """The volatility last realised over as long a time, and the RiskMetrics average."""
    horizon, table = problem.horizon or 1, pd.concat([train, holdout], ignore_index=True)
    forecasts = {name: np.full(len(table), np.nan) for name in ("last volatility", "weighted average")}
    for rows in split_series(table, problem):
        values = pd.Series(series_values(table, problem, rows))
        forecasts["last volatility"][rows] = realised_volatility(values, horizon).to_numpy()
        forecasts["weighted average"][rows] = ewma_volatility(values, horizon).to_numpy()
    on_holdout = {name: values[len(train) :] for name, values in forecasts.items()}
    return {
        name: values for name, values in on_holdout.items() if np.isfinite(values).mean() > MIN_FINITE_SHARE
    }


def _forecast_steps(
    train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem, steps: Sequence[int]
) -> ReferenceForecasts:
    """Map each reference to its forecasts (rows of the hold-out, steps)."""
    rows_of_both = pd.concat([train, holdout], ignore_index=True)
    series = split_series(rows_of_both, problem)
    fit_smoothing = len(series) <= MAX_SERIES
    forecasts: ReferenceForecasts = {}
    for rows in series:
        values = series_values(rows_of_both, problem, rows)
        train_count = int((rows < len(train)).sum())
        if not train_count or np.isnan(values).any():
            continue
        season, rhythm = None, detect_series_interval(rows_of_both, problem, [rows])
        if rhythm and train_count > 2 * max(steps):
            season = detect_season(values[:train_count], list_horizons(problem), rhythm.spacing_s)
        for name, forecast in _series_references(values, train_count, season, fit_smoothing):
            table = forecasts.setdefault(name, np.full((len(rows_of_both), len(steps)), np.nan))
            for column, step in enumerate(steps):
                table[rows, column] = forecast(step)
    on_holdout = {name: table[len(train) :] for name, table in forecasts.items()}
    return {name: table for name, table in on_holdout.items() if np.isfinite(table).mean() > MIN_FINITE_SHARE}


def _series_references(
    values: np.ndarray, train_count: int, season: int | None, fit_smoothing: bool
) -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Yield each reference of a series, as a function of the step; `train_count` of the values are training
    rows."""
    yield "last value", lambda step: last_value(values, step)
    yield "drift", lambda step: drift(values, step)
    if season:
        yield "last season", lambda step: seasonal_naive(values, step, season)
    train_values = values[:train_count]
    if fit_smoothing and train_count >= max(MIN_ROWS, 2 * (season or 0)) and float(train_values.std()) > 0:
        fitted_values = select_recent(train_values, season)
        skipped = np.full(train_count - len(fitted_values), np.nan)
        smoothing = Smoothing.fit(fitted_values, season)
        remaining = values[len(skipped) :]
        yield (
            "exponential smoothing",
            lambda step: np.concatenate([skipped, smoothing.forecast(remaining, step)]),
        )
