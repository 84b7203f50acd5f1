"""Forecasts of the series of a table by the classical methods that did best on the last part of the past."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.forecasting.methods import Method, list_methods
from app.modeling.forecasting.path_intervals import LEVEL, PathIntervals, grows_with_level
from app.modeling.forecasting.selection import (
    MAX_REFITS,
    Choice,
    Trial,
    choose_methods,
    combine,
    cross_fit_paths,
    level_units,
    run_trial,
    trial_rows,
)
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.recipe.naive_forecasts import DAY_S
from app.modeling.recipe.sampling_interval import IntervalUnit, SamplingInterval, detect_interval
from app.modeling.recipe.time_series import series_values, split_series

SELECTED = "best classical methods"
"""Name of the methods that were chosen, as a reference beside a model."""
MAX_SMOOTHED_SERIES = 20
"""With more series exponential smoothing is not fitted: each takes up to a twentieth of a second."""
MAX_TRIAL_SERIES = 20
"""Longest series that the methods are chosen on: their errors differ little from those of all."""
MAX_HORIZON = 400
"""Steps ahead that are tried, a little more than a year of days: more take minutes."""
_SEASONS_OF_MONTHS = {1: (12,), 3: (4,), 2: (6,), 4: (3,)}
_WEEKDAY_SEASONS = (5, 261)
_YEAR_WEEKS, _YEAR_DAYS = 52, (364, 365)
"""A year of days has no whole number of weeks: 364 days keep the weekday, 365 the date."""


@dataclass(frozen=True)
class SeriesHistory:
    """The values of one series in time order, without gaps, and the `rows` of the table that they stand in."""

    group: Any
    rows: np.ndarray
    values: np.ndarray
    times: np.ndarray
    interval: SamplingInterval | None
    is_smoothed: bool

    @cached_property
    def seasons(self) -> tuple[int, ...]:
        return list_seasons(self.interval)

    def methods(self, train_rows: int) -> Mapping[str, Method]:
        return list_methods(self.values, train_rows, self.seasons, self.is_smoothed)


def list_seasons(interval: SamplingInterval | None) -> tuple[int, ...]:
    """List the lengths in rows of every season that the spacing of the rows admits."""
    if interval is None:
        return ()
    if interval.unit is IntervalUnit.MONTH:
        return _SEASONS_OF_MONTHS.get(round(interval.count), ())
    if interval.unit is IntervalUnit.WEEKDAY:
        return _WEEKDAY_SEASONS
    days = interval.spacing_s / DAY_S
    if abs(days - 7) < 0.01:
        return (_YEAR_WEEKS,)
    if abs(days - 1) < 0.01:
        return (7, *_YEAR_DAYS)
    if days < 1:
        rows_of_day = 1 / days
        # Only whole rows per day: with 10.3 rows a day, no row lies a day before another.
        seasons = (
            [round(rows_of_day), round(7 * rows_of_day)] if abs(rows_of_day - round(rows_of_day)) < 0.01 else []
        )
        return tuple(season for season in seasons if season > 1)
    return ()


def read_histories(table: pd.DataFrame, problem: Problem) -> list[SeriesHistory]:
    """Read the series of a table."""
    parts = split_series(table, problem)
    histories = []
    for rows in parts:
        values = series_values(table, problem, rows)
        # A series without any value stays unknown after gaps are filled, and cannot be forecast.
        if np.isfinite(values).all():
            group = table[problem.group_column].iloc[rows[0]] if problem.group_column else None
            times = table[problem.time_column].to_numpy()[rows]
            is_smoothed = len(parts) <= MAX_SMOOTHED_SERIES
            histories.append(SeriesHistory(group, rows, values, times, detect_interval(times), is_smoothed))
    return histories


def run_trials(histories: Sequence[SeriesHistory], horizon: int) -> list[Trial]:
    """Forecast the last part of the longest series by each method that they are long enough for."""
    longest = sorted(histories, key=lambda history: -len(history.values))[:MAX_TRIAL_SERIES]
    # Several series try the methods at several times already, and fitting again takes time for each.
    refits = max(1, MAX_REFITS // max(len(longest), 1))
    trials = []
    for history in longest:
        train_rows = trial_rows(len(history.values), horizon, history.seasons)
        trial = run_trial(history.values, history.methods(train_rows), train_rows, horizon, refits)
        if trial is not None:
            trials.append(trial)
    return trials


@dataclass(frozen=True)
class ClassicalForecaster:
    """The chosen methods with the intervals of their mean. `is_positive`: no value was ever below zero.

    `by_level`: errors grow with the level of the series, and so do the intervals.
    """

    choice: Choice
    intervals: PathIntervals
    is_positive: bool
    by_level: bool = False

    def forecast(self, history: SeriesHistory, problem: Problem) -> pd.DataFrame:
        """Forecast one series beyond its last row: series, time, `rows_ahead`, `prediction`, `low`, `high`."""
        horizon = problem.horizon or 1
        path = _future_path(history, horizon, self.choice)
        low, high = self.intervals.bounds(path, np.arange(1, horizon + 1), self.unit(history))
        if self.is_positive:
            path, low, high = np.maximum(path, 0), np.maximum(low, 0), np.maximum(high, 0)
        return _frame(history, problem, path, low, high)

    def unit(self, history: SeriesHistory) -> float:
        """Return the unit of errors after the last row of a series."""
        rows = len(history.values)
        return float(self._units_at(history, rows, np.array([rows - 1]))[0])

    def bounds_at(
        self, history: SeriesHistory, learned_rows: int, origins: np.ndarray, paths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return low and high of forecasts (origins, horizon) from rows after those that were learned from."""
        steps = np.arange(1, paths.shape[1] + 1)
        units = self._units_at(history, learned_rows, origins)
        low, high = self.intervals.bounds(paths, steps, units[:, None])
        return (np.maximum(low, 0), np.maximum(high, 0)) if self.is_positive else (low, high)

    def _units_at(self, history: SeriesHistory, learned_rows: int, origins: np.ndarray) -> np.ndarray:
        """Return the unit of errors at each origin (origins,); changes are those of the learned rows."""
        scale = _scale(history.values[:learned_rows])
        levels = level_units(history.values, learned_rows, origins) if self.by_level else None
        if levels is None:
            return np.full(len(origins), scale)
        units: np.ndarray = np.where(levels > 0, levels, scale)
        return units


def fit_forecaster(
    histories: Sequence[SeriesHistory], trials: Sequence[Trial], problem: Problem
) -> tuple[ClassicalForecaster, list[np.ndarray], list[np.ndarray]]:
    """Choose the methods by their trials and fit their intervals.

    Returned with them are the cross-fitted paths of each trial (origins, horizon) and the units of its errors.
    """
    # By the error that the problem counts: squared ones favour means, absolute ones medians.
    is_squared = problem.metric != "mae"
    paths = cross_fit_paths(trials, is_squared)
    by_level = _grow_with_level(trials, paths)
    units = [_units(trial, by_level) for trial in trials]
    errors = [(t.truth - path) / unit[:, None] for t, path, unit in zip(trials, paths, units, strict=True)]
    # Sales and counts are never negative; a trend downwards would forecast that.
    is_positive = all(history.values.min() >= 0 for history in histories)
    intervals = PathIntervals.fit(np.concatenate(errors))
    forecaster = ClassicalForecaster(choose_methods(trials, is_squared), intervals, is_positive, by_level)
    return forecaster, paths, units


@dataclass(frozen=True)
class SeriesForecast:
    """`frame`: series, time, `rows_ahead`, `prediction`, `low` and `high`. `answers`: of each series one number
    for the periods that are asked for, if there is one. `histories`: the series that were forecast."""

    frame: pd.DataFrame
    forecaster: ClassicalForecaster
    histories: list[SeriesHistory]
    answers: list[dict[str, Any]]

    @property
    def method(self) -> str:
        return self.forecaster.choice.name


def forecast_series(
    table: pd.DataFrame, problem: Problem, answer: str = "each_period", skipped: int = 0
) -> SeriesForecast | None:
    """Forecast each series beyond its last row by the best methods; None if no series has a trial to choose by.

    `answer`: `sum`, `mean`, `maximum` or `minimum` of the periods after the first `skipped`, with an interval.
    """
    horizon = problem.horizon or 1
    histories = read_histories(table, problem)
    trials = run_trials(histories, min(horizon, MAX_HORIZON))
    if not trials:
        return None
    forecaster, paths, units = fit_forecaster(histories, trials, problem)
    reduced = [
        _reduced_errors(trial, path, unit, answer, skipped)
        for trial, path, unit in zip(trials, paths, units, strict=True)
    ]
    reduced_errors = np.concatenate(reduced) if answer in REDUCTIONS else np.zeros(0)
    frames, answers = [], []
    for history in histories:
        frames.append(forecaster.forecast(history, problem))
        path, low, high = (frames[-1][name].to_numpy() for name in ("prediction", "low", "high"))
        if answer in REDUCTIONS and horizon > skipped:
            value = float(REDUCTIONS[answer](path[skipped:]))
            bounds = _reduced_bounds(
                value, reduced_errors, forecaster.unit(history), (path, low, high), answer, skipped
            )
            lowest = max(bounds[0], 0.0) if forecaster.is_positive else bounds[0]
            answers.append({"group": history.group, "value": value, "low": lowest, "high": bounds[1]})
    return SeriesForecast(pd.concat(frames, ignore_index=True), forecaster, histories, answers)


def _scale(values: np.ndarray) -> float:
    """Return the mean change from row to row, the unit of errors; 1 for a series that never changes."""
    return float(np.abs(np.diff(values)).mean()) or 1.0 if len(values) > 1 else 1.0


REDUCTIONS: Mapping[str, Any] = {"sum": np.sum, "mean": np.mean, "maximum": np.max, "minimum": np.min}


def _grow_with_level(trials: Sequence[Trial], paths: Sequence[np.ndarray]) -> bool:
    """Test if the errors of all series grow with their level, beyond what chance explains."""
    levels = [trial.levels / trial.scale for trial in trials if trial.levels is not None]
    if len(levels) < len(trials):
        return False
    errors = [(trial.truth - path) / trial.scale for trial, path in zip(trials, paths, strict=True)]
    return grows_with_level(np.concatenate(errors), np.concatenate(levels))


def _units(trial: Trial, by_level: bool) -> np.ndarray:
    """Return the unit of errors at each origin of a trial (origins,)."""
    return trial.levels if by_level and trial.levels is not None else np.full(len(trial.truth), trial.scale)


def _reduced_errors(trial: Trial, path: np.ndarray, unit: np.ndarray, answer: str, skipped: int) -> np.ndarray:
    """Return the errors of one number for the whole horizon (origins,), where all of it is known."""
    reduce = REDUCTIONS.get(answer)
    if reduce is None:
        return np.zeros(0)
    truth, forecast = trial.truth[:, skipped:], path[:, skipped:]
    # The sum of a part of the periods is smaller than that of all.
    is_complete = np.isfinite(truth).all(axis=1)
    errors: np.ndarray = (reduce(truth[is_complete], axis=1) - reduce(forecast[is_complete], axis=1)) / unit[
        is_complete
    ]
    return errors


MIN_REDUCED = 10
"""Whole horizons in a trial from which the error of their sum is measured, and not made of the single ones."""


def _reduced_bounds(
    value: float,
    errors: np.ndarray,
    scale: float,
    paths: tuple[np.ndarray, np.ndarray, np.ndarray],
    answer: str,
    skipped: int,
) -> tuple[float, float]:
    if len(errors) >= MIN_REDUCED:
        fitted = PathIntervals.fit(errors[:, None])
        low, high = fitted.bounds(np.array([value]), np.array([1]), scale)
        return float(low[0]), float(high[0])
    path, low, high = (part[skipped:] for part in paths)
    count = len(path) if answer == "sum" else 1
    half = float(np.mean(high - low)) / 2 * count
    return value - half, value + half


def _joint_share(table: pd.DataFrame, problem: Problem, skipped: int) -> float:
    """Estimate the width of the interval of a sum, as a share of the added widths of its periods.

    It is 1 where the errors of a forecast are the same in all periods, and 1 / sqrt(periods) where they are
    independent. Measured with the classical methods on the last part of the past, whose errors go together as
    those of any other forecast do; 1 where that part is too short to tell, which is cautious.
    """
    trials = run_trials(read_histories(table, problem), min(problem.horizon or 1, MAX_HORIZON))
    if not trials:
        return 1.0
    choice = choose_methods(trials, problem.metric != "mae")
    errors = [(t.truth - combine(t.forecasts, choice.weights))[:, skipped:] / t.scale for t in trials]
    complete = np.concatenate([rows[np.isfinite(rows).all(axis=1)] for rows in errors])
    if len(complete) < MIN_REDUCED or complete.shape[1] == 0:
        return 1.0
    added = np.quantile(np.abs(complete), LEVEL, axis=0).sum()
    share = np.quantile(np.abs(complete.sum(axis=1)), LEVEL) / added if added else 1.0
    return float(np.clip(share, complete.shape[1] ** -0.5, 1.0))


def reduce_forecasts(
    forecasts: pd.DataFrame, problem: Problem, answer: str, skipped: int, past: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return one number of each series for the periods after the first `skipped`, of forecasts with bounds.

    `past`: the rows before the forecasts, which tell how the errors of neighbouring periods go together.
    """
    if answer not in REDUCTIONS or "low" not in forecasts:
        return []
    share = _joint_share(past, problem, skipped) if answer in ("sum", "mean") else 1.0
    group = problem.group_column
    parts = [(None, forecasts)] if group is None else list(forecasts.groupby(group, sort=False, observed=True))
    answers = []
    for name, part in parts:
        path, low, high = (part[column].to_numpy()[skipped:] for column in ("prediction", "low", "high"))
        if len(path):
            value = float(REDUCTIONS[answer](path))
            bounds = _reduced_bounds(value, np.zeros(0), 1.0, (path, low, high), answer, 0)
            lowest, highest = (value + share * (bound - value) for bound in bounds)
            answers.append({"group": name, "value": value, "low": lowest, "high": highest})
    return answers


def _future_path(history: SeriesHistory, horizon: int, choice: Choice) -> np.ndarray:
    rows = len(history.values)
    available = history.methods(rows)
    weights = {name: weight for name, weight in choice.weights.items() if name in available}
    last = np.array([rows - 1])
    paths = {name: available[name](history.values, rows, horizon, last)[0] for name in weights}
    # No logarithm after a value of zero, and a short series may lack every method that longer ones chose.
    finite = {name: weight for name, weight in weights.items() if np.isfinite(paths[name]).all()}
    return combine(paths, finite) if finite else np.repeat(history.values[-1:], horizon)


def _frame(
    history: SeriesHistory, problem: Problem, path: np.ndarray, low: np.ndarray, high: np.ndarray
) -> pd.DataFrame:
    steps = np.arange(1, len(path) + 1)
    last = np.repeat(history.times[-1:], len(path))
    times = history.interval.moments_after(last, steps) if history.interval else last
    group = {problem.group_column: history.group} if problem.group_column else {}
    columns = {
        str(problem.time_column): times,
        ROWS_AHEAD: steps,
        "prediction": path,
        "low": low,
        "high": high,
    }
    frame = pd.DataFrame(columns).assign(**{str(name): value for name, value in group.items()})
    return frame[[*map(str, group), *columns]]
