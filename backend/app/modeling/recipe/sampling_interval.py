"""Sampling intervals of time series: seconds, weekdays or months."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

DAY_S = 86_400.0
MONTH_S = 30.4375 * DAY_S
MIN_REGULAR_SHARE = 0.9
"""Share of the steps that must be whole months, within three days, for an interval in months."""


class IntervalUnit(StrEnum):
    SECOND = "second"
    WEEKDAY = "weekday"
    MONTH = "month"


@dataclass(frozen=True)
class SamplingInterval:
    """One row every `count` units."""

    unit: IntervalUnit
    count: float

    @property
    def spacing_s(self) -> float:
        """Mean seconds from row to row."""
        return (
            self.count
            * {IntervalUnit.SECOND: 1.0, IntervalUnit.WEEKDAY: 7 / 5 * DAY_S, IntervalUnit.MONTH: MONTH_S}[
                self.unit
            ]
        )

    def moments_after(self, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The time so many rows after each time (rows,)."""
        moments = times.astype("datetime64[s]")
        if self.unit is IntervalUnit.WEEKDAY:
            days = moments.astype("datetime64[D]")
            # A row at a weekend counts from the Friday before.
            shifted = np.busday_offset(days, rows * int(self.count), roll="backward")
            return np.asarray(shifted.astype("datetime64[s]") + (moments - days))
        if self.unit is IntervalUnit.MONTH:
            return _months_after(moments, rows * int(self.count))
        return np.asarray(moments + np.rint(rows * self.count).astype("timedelta64[s]"))


def detect_interval(times: np.ndarray) -> SamplingInterval | None:
    """Detect the interval of one series from its sorted times; None for fewer than two distinct times."""
    moments = np.unique(times[~np.isnat(times)].astype("datetime64[s]"))
    if len(moments) < 2:
        return None
    steps = np.diff(moments).astype(float)
    median_s = float(np.median(steps))
    months = round(median_s / MONTH_S)
    if months and np.mean(np.abs(steps - months * MONTH_S) <= 3 * DAY_S) >= MIN_REGULAR_SHARE:
        return SamplingInterval(IntervalUnit.MONTH, float(months))
    weekdays = np.is_busday(moments.astype("datetime64[D]"))
    # Up to seven days in a row may just lie between two weekends.
    if median_s == DAY_S and len(moments) > 7 and weekdays.all():
        return SamplingInterval(IntervalUnit.WEEKDAY, 1.0)
    return SamplingInterval(IntervalUnit.SECOND, median_s)


def _months_after(moments: np.ndarray, months: np.ndarray) -> np.ndarray:
    """The same day of a later month; the last day of a month maps to the last day."""
    first = moments.astype("datetime64[M]")
    within_month = moments - first.astype("datetime64[s]")
    is_month_end = (moments + np.timedelta64(1, "D")).astype("datetime64[M]") > first
    target_months = first + months
    month_ends = (
        (target_months + 1).astype("datetime64[s]")
        - np.timedelta64(1, "D")
        + within_month % np.timedelta64(1, "D")
    )
    same_day = target_months.astype("datetime64[s]") + within_month
    return np.asarray(np.where(is_month_end, month_ends, np.minimum(same_day, month_ends)))
