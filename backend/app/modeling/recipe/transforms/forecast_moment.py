"""Features of the forecast time: its calendar, and the same position of earlier seasons."""

from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.sampling_interval import IntervalUnit, SamplingInterval
from app.modeling.recipe.transforms.dates import DatePart, extract_part, to_dates
from app.modeling.recipe.transforms.lag_features import transform_by_group
from app.modeling.recipe.transforms.operation import LookBack, Operation, State
from app.modeling.table.numeric import to_float

SEASONS = (1, 3, 8)
"""Seasons that are averaged: few follow changes, many reduce noise."""


class ForecastMoment(Operation):
    """Features of the time that is forecast.

    `<column>_place<n>`: the mean of the latest `n` known values at its position of the season;
    `<column>_level<n>`: the mean of all values of `n` seasons; both minus the present value. `ahead_<part>`:
    parts of its date.

    `rows`: steps ahead, unless rows have their own step; one row every `count` `unit`s.
    """

    op: Literal["ahead"] = "ahead"
    needs_order: ClassVar[bool] = True
    is_per_step: ClassVar[bool] = True
    column: str
    time: str
    rows: LookBack
    season: LookBack | None = None
    unit: IntervalUnit = IntervalUnit.SECOND
    count: Annotated[float, Field(gt=0)]
    parts: tuple[DatePart, ...] = ()

    def required_columns(self) -> tuple[str, ...]:
        return (self.column, self.time)

    def history_rows(self) -> int:
        return max(SEASONS) * self.season if self.season else 0

    def apply(self, frame: pd.DataFrame, state: State, groups: pd.Series | None) -> pd.DataFrame:
        positions = np.arange(len(frame))
        return frame.assign(**self.make_columns(frame, groups, positions, np.full(len(frame), self.rows)))

    def make_columns(
        self, frame: pd.DataFrame, groups: pd.Series | None, positions: np.ndarray, rows_ahead: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Make columns (len(positions),) for rows of a frame in time order and their steps ahead
        (positions,)."""
        columns = self._calendar(frame, positions, rows_ahead)
        if self.season:
            columns |= self._seasons(frame, groups, positions, rows_ahead, self.season)
        return columns

    def _calendar(
        self, frame: pd.DataFrame, positions: np.ndarray, rows_ahead: np.ndarray
    ) -> dict[str, np.ndarray]:
        if not self.parts:
            return {}
        times = to_dates(frame[self.time]).iloc[positions].to_numpy()
        moments = pd.Series(SamplingInterval(self.unit, self.count).moments_after(times, rows_ahead))
        return {f"ahead_{part}": extract_part(moments, part, None).to_numpy() for part in self.parts}

    def _seasons(
        self,
        frame: pd.DataFrame,
        groups: pd.Series | None,
        positions: np.ndarray,
        rows_ahead: np.ndarray,
        season: int,
    ) -> dict[str, np.ndarray]:
        values = to_float(frame[self.column])
        series = _GroupedSeries(values.to_numpy(), groups)
        now = series.values[positions]
        # Whole seasons back from the forecast time, as few as lead to a row that is known already.
        lag = season * np.ceil(rows_ahead / season).astype(int) - rows_ahead
        rounds = np.stack([series.earlier(positions, lag + number * season) for number in range(max(SEASONS))])
        columns = {}
        for count in SEASONS:
            level = transform_by_group(values, groups, partial(_rolling_mean, window=count * season)).to_numpy()
            # Minus the present value, so that they say the same at any level of the series.
            columns[f"{self.column}_place{count}"] = _mean_of_known(rounds[:count]) - now
            columns[f"{self.column}_level{count}"] = level[positions] - now
        return columns


def _rolling_mean(values: pd.Series, window: int) -> pd.Series:
    # From the first row on: early rows of a short series would be missing for eight seasons else.
    return values.rolling(window, min_periods=1).mean()


def _mean_of_known(rounds: np.ndarray) -> np.ndarray:
    """Column means of a table (seasons, rows) without missing values (rows,)."""
    is_known = np.isfinite(rounds)
    total = np.where(is_known, rounds, 0.0).sum(axis=0)
    mean: np.ndarray = np.divide(
        total, is_known.sum(axis=0), out=np.full(rounds.shape[1], np.nan), where=is_known.any(axis=0)
    )
    return mean


class _GroupedSeries:
    """Values of a frame in time order, each group a series of its own."""

    def __init__(self, values: np.ndarray, groups: pd.Series | None) -> None:
        self.values = values
        codes = np.zeros(len(values), dtype=int) if groups is None else pd.factorize(groups)[0]
        # Stable, so that rows of a group keep their order in time.
        self._order = np.argsort(codes, kind="stable")
        self._place = np.empty(len(values), dtype=int)
        self._place[self._order] = np.arange(len(values))
        self._since = pd.Series(codes).groupby(codes, sort=False).cumcount().to_numpy()

    def earlier(self, positions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The values so many rows earlier in the series (positions,), nan before its first row."""
        has_history = self._since[positions] >= rows
        # Position 0 stands in where there is no history: a negative one would wrap around to the last row.
        values = self.values[self._order[np.where(has_history, self._place[positions] - rows, 0)]]
        return np.where(has_history, values, np.nan)
