"""Bars that are not there, between those that are. Pure; `datasets/price_queries.py` says the same in SQL.

A market that never trades on Saturdays and Sundays is closed then, and at night: there a bar is missing when it
lacks between two bars of one day, and so is a whole day from Monday to Friday without any bar.
"""

from dataclasses import dataclass

import numpy as np

from app.computations.bars.interval import DAY_S
from app.computations.bars.runs import Ints

_SECOND_US = 1_000_000
_DAY_US = DAY_S * _SECOND_US
_MONDAY_US = 4 * _DAY_US
"""1970-01-05, the first Monday."""


@dataclass(frozen=True)
class Steps:
    """Of each bar but the first: `bars` that lack before it in an open market, and in one with weekends `bars`
    of the same day and whole `days`."""

    always: Ints
    within_day: Ints
    days: Ints


def steps_between(ts: Ints, interval_us: int) -> Steps:
    """`ts`: ascending microseconds since 1970; one entry a pair of neighbours."""
    before, after = ts[:-1], ts[1:]
    lacking = np.maximum(np.rint((after - before) / interval_us).astype(np.int64) - 1, 0)
    day, next_day = (before - _MONDAY_US) // _DAY_US, (after - _MONDAY_US) // _DAY_US
    within = np.where(day == next_day, lacking, 0)
    return Steps(lacking, within, np.maximum(_weekdays(next_day) - _weekdays(day + 1), 0))


def at_weekends(ts: Ints) -> int:
    """How many of the times are on a Saturday or Sunday (UTC)."""
    return int(np.count_nonzero((ts - _MONDAY_US) // _DAY_US % 7 >= 5))


def _weekdays(day: Ints) -> Ints:
    """Days from Monday to Friday before `day`, counted from a Monday."""
    return day // 7 * 5 + np.minimum(day % 7, 5)
