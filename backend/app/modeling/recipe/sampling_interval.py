"""How a series' rows follow each other: so many seconds apart, on weekdays, or so many months apart."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

DAY_S = 86_400.0
MONTH_S = 30.4375 * DAY_S
MIN_REGULAR_SHARE = 0.9
"""Of the steps that must be as long as the usual one, give or take a day, to count months."""


class IntervalUnit(StrEnum):
    SECOND = "second"
    WEEKDAY = "weekday"
    MONTH = "month"


@dataclass(frozen=True)
class SamplingInterval:
    """A row comes every `count` units."""

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
        """The moments so many rows after each of these."""
        moments = times.astype("datetime64[s]")
        if self.unit is IntervalUnit.WEEKDAY:
            days = moments.astype("datetime64[D]")
            later = np.busday_offset(days, rows * int(self.count), roll="backward")
            return np.asarray(later.astype("datetime64[s]") + (moments - days))
        if self.unit is IntervalUnit.MONTH:
            return _months_after(moments, rows * int(self.count))
        return np.asarray(moments + np.rint(rows * self.count).astype("timedelta64[s]"))


def detect_interval(times: np.ndarray) -> SamplingInterval | None:
    """Of one series' times in order; None where there are no two."""
    moments = np.unique(times[~np.isnat(times)].astype("datetime64[s]"))
    if len(moments) < 2:
        return None
    steps = np.diff(moments).astype(float)
    usual = float(np.median(steps))
    months = round(usual / MONTH_S)
    if months and np.mean(np.abs(steps - months * MONTH_S) <= 3 * DAY_S) >= MIN_REGULAR_SHARE:
        return SamplingInterval(IntervalUnit.MONTH, float(months))
    weekdays = np.is_busday(moments.astype("datetime64[D]"))
    if usual == DAY_S and len(moments) > 7 and weekdays.all():
        return SamplingInterval(IntervalUnit.WEEKDAY, 1.0)
    return SamplingInterval(IntervalUnit.SECOND, usual)


def _months_after(moments: np.ndarray, months: np.ndarray) -> np.ndarray:
    """The same day of a later month; the last day of a month stays the last."""
    first = moments.astype("datetime64[M]")
    into = moments - first.astype("datetime64[s]")
    was_last = (moments + np.timedelta64(1, "D")).astype("datetime64[M]") > first
    later = first + months
    ends = (later + 1).astype("datetime64[s]") - np.timedelta64(1, "D") + into % np.timedelta64(1, "D")
    same = later.astype("datetime64[s]") + into
    return np.asarray(np.where(was_last, ends, np.minimum(same, ends)))
