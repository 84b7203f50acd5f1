"""Model-free reference forecasts on the hold-out, made for each series separately."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from app.modeling.forecasting.methods import is_reference
from app.modeling.forecasting.selection import MAX_REFITS, combine
from app.modeling.forecasting.series_forecast import SELECTED, SeriesHistory, choose_for, read_histories
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.time_series import series_values, split_series
from app.modeling.recipe.volatility import ewma_volatility, realised_volatility

MAX_FITS = 20
"""Fits of each method on the hold-out, over all series: each takes up to a tenth of a second."""
MIN_FINITE_SHARE = 0.9
"""Share of rows that a reference must forecast to be reported."""

ReferenceForecasts = dict[str, np.ndarray]
"""Name of the reference -> its forecasts (rows,) or (rows, steps)."""


def forecast_references(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> ReferenceForecasts:
    """Forecast each hold-out row (rows,) by each reference; empty for problems that do not forecast a number.

    One of them is `SELECTED`: the classical methods that were best on the last part of the training rows. The
    hold-out's rows may be expanded by step; `train` is the unexpanded table.
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
    # The first hold-out rows look back into the training rows, as they would in use.
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
    # Chosen on training rows: a choice by the hold-out would be scored on the rows that it was made by.
    choice = choose_for(train, problem)
    weights = choice.weights if choice else {}
    horizon, forecasts = max(steps), ReferenceForecasts()
    histories = read_histories(rows_of_both, problem)
    refits = int(np.clip(MAX_FITS // max(len(histories), 1), 1, MAX_REFITS))
    for history in histories:
        # Training rows come first in the joined table.
        train_rows = int((history.rows < len(train)).sum())
        if not train_rows or train_rows == len(history.rows):
            continue
        for name, paths in _paths(history, train_rows, horizon, weights, refits).items():
            table = forecasts.setdefault(name, np.full((len(rows_of_both), len(steps)), np.nan))
            table[history.rows[train_rows:]] = paths[:, np.asarray(steps) - 1]
    on_holdout = {name: table[len(train) :] for name, table in forecasts.items()}
    return {name: table for name, table in on_holdout.items() if np.isfinite(table).mean() > MIN_FINITE_SHARE}


def _paths(
    history: SeriesHistory, train_rows: int, horizon: int, weights: Mapping[str, float], refits: int
) -> dict[str, np.ndarray]:
    """Forecast each row after the training rows by each reference, and by the mean of the chosen methods.

    The methods are fitted again before each of `refits` parts of the rows.
    """
    available = history.methods(train_rows)
    # A delivered forecaster fits its methods to all rows that it knows, so that it is judged as it forecasts.
    blocks = np.array_split(np.arange(train_rows, len(history.values)), refits)
    paths = {
        name: np.concatenate(
            [available[name](history.values, int(block[0]), horizon, block) for block in blocks if len(block)]
        )
        for name in available
        if name in weights or is_reference(name)
    }
    finite = {
        name: weight for name, weight in weights.items() if name in paths and np.isfinite(paths[name]).all()
    }
    if finite:
        paths[SELECTED] = combine(paths, finite)
    return {name: path for name, path in paths.items() if name == SELECTED or is_reference(name)}
