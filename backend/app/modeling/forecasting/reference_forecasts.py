"""Model-free reference forecasts on the hold-out, made for each series separately."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.forecasting.methods import is_reference
from app.modeling.forecasting.selection import MAX_REFITS, combine
from app.modeling.forecasting.series_forecast import (
    MAX_HORIZON,
    SELECTED,
    ClassicalForecaster,
    SeriesHistory,
    fit_forecaster,
    read_histories,
    run_trials,
)
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD, collapse_origins, has_horizon_rows
from app.modeling.recipe.time_series import series_values, split_series
from app.modeling.recipe.volatility import ewma_volatility, realised_volatility

MAX_FITS = 20
"""Fits of each method on the hold-out, over all series: each takes up to a tenth of a second."""
MIN_FINITE_SHARE = 0.9
"""Share of rows that a reference must forecast to be reported."""


@dataclass(frozen=True)
class ReferenceForecasts:
    """`forecasts`: of each reference by its name, (rows,) or (rows, steps).

    `low` and `high`: bounds of the forecasts of `SELECTED`, learned from the training rows; None without them.
    """

    forecasts: dict[str, np.ndarray]
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def take(self, index: Any) -> "ReferenceForecasts":
        """Return some of the forecasts, as the index of an array of them."""
        low, high = (None if bound is None else bound[index] for bound in (self.low, self.high))
        return ReferenceForecasts({name: table[index] for name, table in self.forecasts.items()}, low, high)


def forecast_references(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> ReferenceForecasts:
    """Forecast each hold-out row (rows,) by each reference; empty for problems that do not forecast a number.

    One of them is `SELECTED`: the classical methods that were best on the last part of the training rows. The
    hold-out's rows may be expanded by step; `train` is the unexpanded table.
    """
    if problem.outlook is Outlook.VOLATILITY:
        return ReferenceForecasts(_volatilities(train, holdout, problem))
    if problem.is_classification or problem.outlook is not Outlook.VALUE or not problem.horizon:
        return ReferenceForecasts({})
    if not has_horizon_rows(holdout):
        return _forecast_steps(train, holdout, problem, (problem.horizon,)).take((slice(None), 0))
    unexpanded, back = collapse_origins(holdout)
    steps, step_index = np.unique(holdout[ROWS_AHEAD].to_numpy(), return_inverse=True)
    return _forecast_steps(train, unexpanded, problem, [int(step) for step in steps]).take((back, step_index))


def _volatilities(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> dict[str, np.ndarray]:
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
    forecaster = _learn_forecaster(train, problem)
    weights = forecaster.choice.weights if forecaster else {}
    tables: dict[str, np.ndarray] = {}
    columns = np.asarray(steps) - 1
    histories = read_histories(rows_of_both, problem)
    refits = int(np.clip(MAX_FITS // max(len(histories), 1), 1, MAX_REFITS))
    for history in histories:
        # Training rows come first in the joined table.
        train_rows = int((history.rows < len(train)).sum())
        if not train_rows or train_rows == len(history.rows):
            continue
        paths = _paths(history, train_rows, max(steps), weights, refits)
        if forecaster and SELECTED in paths:
            origins = np.arange(train_rows, len(history.values))
            bounds = forecaster.bounds_at(history, train_rows, origins, paths[SELECTED])
            paths |= dict(zip((_LOW, _HIGH), bounds, strict=True))
        for name, path in paths.items():
            table = tables.setdefault(name, np.full((len(rows_of_both), len(steps)), np.nan))
            table[history.rows[train_rows:]] = path[:, columns]
    on_holdout = {name: table[len(train) :] for name, table in tables.items()}
    low, high = on_holdout.pop(_LOW, None), on_holdout.pop(_HIGH, None)
    forecasts = {
        name: table for name, table in on_holdout.items() if np.isfinite(table).mean() > MIN_FINITE_SHARE
    }
    return ReferenceForecasts(forecasts, low, high) if SELECTED in forecasts else ReferenceForecasts(forecasts)


_LOW, _HIGH = "low", "high"
"""Names of the bounds of `SELECTED` among the tables of forecasts."""


def _learn_forecaster(train: pd.DataFrame, problem: Problem) -> ClassicalForecaster | None:
    """Choose the methods for the series of a table; None if all are constant or too short for a trial."""
    histories = read_histories(train, problem)
    trials = run_trials(histories, min(problem.horizon or 1, MAX_HORIZON))
    return fit_forecaster(histories, trials, problem)[0] if trials else None


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
