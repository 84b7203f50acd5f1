"""What is known already of the moment that is forecast: its calendar, and the same place of earlier seasons."""

from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from app.modeling.recipe.sampling_interval import IntervalUnit, SamplingInterval
from app.modeling.recipe.transforms.dates import DatePart, extract_part, to_dates
from app.modeling.recipe.transforms.history import transform_by_group
from app.modeling.recipe.transforms.step import LookBack, Operation, State
from app.modeling.table.numeric import to_float

SEASONS = (1, 3, 8)
"""How many seasons are averaged: few follow changes, many tell a place of the season from chance."""


class ForecastMoment(Operation):
    """`<column>_place<n>`: the mean of the latest `n` known values at the forecast moment's place of the
    season; `<column>_level<n>`: that of all values of so many seasons; both less the present value.
    `ahead_<part>`: parts of the forecast moment's date.

    `rows`: how far ahead, where rows do not say it themselves; a row comes every `count` `unit`s.
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
        every = np.arange(len(frame))
        return frame.assign(**self.make_columns(frame, groups, every, np.full(len(frame), self.rows)))

    def make_columns(
        self, frame: pd.DataFrame, groups: pd.Series | None, at: np.ndarray, ahead: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Columns (len(at),) of the rows at these places of a frame in time order, so many rows ahead."""
        columns = self._calendar(frame, at, ahead)
        if self.season:
            columns |= self._seasons(frame, groups, at, ahead, self.season)
        return columns

    def _calendar(self, frame: pd.DataFrame, at: np.ndarray, ahead: np.ndarray) -> dict[str, np.ndarray]:
        if not self.parts:
            return {}
        times = to_dates(frame[self.time]).iloc[at].to_numpy()
        moments = pd.Series(SamplingInterval(self.unit, self.count).moments_after(times, ahead))
        return {f"ahead_{part}": extract_part(moments, part, None).to_numpy() for part in self.parts}

    def _seasons(
        self, frame: pd.DataFrame, groups: pd.Series | None, at: np.ndarray, ahead: np.ndarray, season: int
    ) -> dict[str, np.ndarray]:
        values = to_float(frame[self.column])
        series = _GroupedSeries(values.to_numpy(), groups)
        now = series.values[at]
        back = season * np.ceil(ahead / season).astype(int) - ahead
        rounds = np.stack([series.earlier(at, back + place * season) for place in range(max(SEASONS))])
        made = {}
        for count in SEASONS:
            level = transform_by_group(values, groups, partial(_mean_of, window=count * season)).to_numpy()
            made[f"{self.column}_place{count}"] = _known_mean(rounds[:count]) - now
            made[f"{self.column}_level{count}"] = level[at] - now
        return made


def _mean_of(part: pd.Series, window: int) -> pd.Series:
    return part.rolling(window, min_periods=1).mean()


def _known_mean(rounds: np.ndarray) -> np.ndarray:
    """Of the rows of a table, without what is missing."""
    known = np.isfinite(rounds)
    total = np.where(known, rounds, 0.0).sum(axis=0)
    mean: np.ndarray = np.divide(
        total, known.sum(axis=0), out=np.full(rounds.shape[1], np.nan), where=known.any(axis=0)
    )
    return mean


class _GroupedSeries:
    """Values by their place in a frame in time order, each group a series of its own."""

    def __init__(self, values: np.ndarray, groups: pd.Series | None) -> None:
        self.values = values
        codes = np.zeros(len(values), dtype=int) if groups is None else pd.factorize(groups)[0]
        self._order = np.argsort(codes, kind="stable")
        self._place = np.empty(len(values), dtype=int)
        self._place[self._order] = np.arange(len(values))
        self._since = pd.Series(codes).groupby(codes, sort=False).cumcount().to_numpy()

    def earlier(self, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The value so many rows earlier in the series, missing before its first."""
        known = self._since[at] >= rows
        found = self.values[self._order[np.where(known, self._place[at] - rows, 0)]]
        return np.where(known, found, np.nan)
