"""Rows that lie a number of sampling intervals later in their series, although rows between are missing."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.recipe.sampling_interval import IntervalUnit, SamplingInterval
from app.modeling.recipe.time_series import detect_series_interval, split_series

MIN_REGULAR_SHARE = 0.7
"""Share of the steps that are as long as the interval: with fewer the rows follow no interval, but events."""
STEP_TOLERANCE = 0.1
"""Difference of a step from the interval, relative to it: months differ by less."""
MIN_LABEL_SHARE = 0.5
"""Labels at their moment, relative to those at their row: with fewer the gaps are the series' calendar, such as
its nights, and a horizon is a number of rows."""


@dataclass(frozen=True)
class SeriesGrid:
    """Series with a regular interval and gaps.

    `series`: their row positions in time order; `moments`: the time of each row (rows,).
    """

    series: list[np.ndarray]
    moments: np.ndarray
    interval: SamplingInterval

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, problem: Problem) -> Self | None:
        """Return the grid of a table; None for series without gaps, and those whose horizon is one of rows.

        Weekdays have their holidays: there a horizon is a number of trading days.
        """
        if not pd.api.types.is_datetime64_dtype(frame[problem.time_column].dtype) or frame.empty:
            return None
        series = split_series(frame, problem)
        interval = detect_series_interval(frame, problem, series)
        if interval is None or interval.unit is IntervalUnit.WEEKDAY or not interval.spacing_s:
            return None
        grid = cls(series, frame[problem.time_column].to_numpy().astype("datetime64[s]"), interval)
        return grid if grid._has_gaps and grid._has_labels(problem.horizon or 1) else None

    @property
    def _has_gaps(self) -> bool:
        steps = np.concatenate([np.diff(self.moments[rows]).astype(float) for rows in self.series])
        relative = steps / self.interval.spacing_s
        is_regular = (np.abs(relative - 1) <= STEP_TOLERANCE).mean() >= MIN_REGULAR_SHARE
        return bool(is_regular and (relative > 1.5).any())

    def _has_labels(self, horizon: int) -> bool:
        by_row = sum(max(len(rows) - horizon, 0) for rows in self.series)
        return int((self.find_later(horizon) >= 0).sum()) >= MIN_LABEL_SHARE * by_row

    def find_later(self, intervals: int) -> np.ndarray:
        """Find the position of the row so many intervals later in each row's series (rows,); -1 without it."""
        later = np.full(len(self.moments), -1)
        half = np.timedelta64(int(self.interval.spacing_s / 2), "s")
        for rows in self.series:
            moments = self.moments[rows]
            expected = self._expect(moments, intervals)
            at = np.searchsorted(moments, expected - half)
            is_present = moments[np.minimum(at, len(rows) - 1)] <= expected + half
            is_present &= at < len(rows)
            later[rows[is_present]] = rows[at[is_present]]
        return later

    def count_gaps(self, intervals: int) -> int:
        """Count the rows whose moment so many intervals later lies within their series, but has no row."""
        later = self.find_later(intervals)
        return sum(
            int(
                (
                    (self._expect(self.moments[rows], intervals) <= self.moments[rows[-1]]) & (later[rows] < 0)
                ).sum()
            )
            for rows in self.series
        )

    def _expect(self, moments: np.ndarray, intervals: int) -> np.ndarray:
        return self.interval.moments_after(moments, np.full(len(moments), intervals))
