"""Dates as numbers: days since the first training row, and parts of the calendar that come again."""

import numpy as np
import pandas as pd

PARTS = {"month": 365, "day": 31, "day_of_week": 7, "hour": 1}
"""Part of a date -> days after which it comes again."""


def parts_of(dates: pd.Series, in_order: bool) -> list[str]:
    """The parts that vary; in time order only those of which the rows saw two rounds: others cannot recur."""
    known = dates.dropna()
    span = (known.max() - known.min()) / pd.Timedelta(days=1)
    return [
        part
        for part, days in PARTS.items()
        if getattr(known.dt, part).nunique() > 1 and (not in_order or span >= 2 * days)
    ]


def elapsed_days(dates: pd.Series) -> np.ndarray:
    """Days since 1970; missing is nan."""
    days = (dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(dtype="float64", na_value=np.nan))


def part_of(dates: pd.Series, part: str) -> np.ndarray:
    return np.asarray(getattr(dates.dt, part).to_numpy(dtype="float64", na_value=np.nan))
