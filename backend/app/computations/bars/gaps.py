"""Missing bars between existing ones. Pure; `datasets/price_queries.py` has the same rules in SQL.

A market that never trades on Saturdays and Sundays is closed then, and at night: a bar is missing there if it
lacks between two bars of one day, and so is a whole day from Monday to Friday without any bar.
"""

from dataclasses import dataclass

import numpy as np

from app.computations.bars.coin_runs import Ints
from app.computations.bars.interval import DAY_S

_SECOND_US = 1_000_000
_DAY_US = DAY_S * _SECOND_US
_MONDAY_US = 4 * _DAY_US
"""The first Monday, 1970-01-05."""


@dataclass(frozen=True)
class MissingBars:
    """Missing bars before each bar but the first.

    `always`: of a market that is always open; of one with weekends, `within_day`: bars of the same day, and
    whole `days`.
    """

    always: Ints
    within_day: Ints
    days: Ints


def count_missing(ts: Ints, interval_us: int) -> MissingBars:
    """Count the missing bars between neighbours; `ts`: ascending microseconds since 1970."""
    before, after = ts[:-1], ts[1:]
    missing = np.maximum(np.rint((after - before) / interval_us).astype(np.int64) - 1, 0)
    day, next_day = (before - _MONDAY_US) // _DAY_US, (after - _MONDAY_US) // _DAY_US
    within = np.where(day == next_day, missing, 0)
    return MissingBars(missing, within, np.maximum(_weekdays(next_day) - _weekdays(day + 1), 0))


def count_weekend_bars(ts: Ints) -> int:
    """Count the times on a Saturday or Sunday (UTC)."""
    return int(np.count_nonzero((ts - _MONDAY_US) // _DAY_US % 7 >= 5))


def _weekdays(day: Ints) -> Ints:
    """Number of days from Monday to Friday before `day`, counted from a Monday."""
    return day // 7 * 5 + np.minimum(day % 7, 5)
