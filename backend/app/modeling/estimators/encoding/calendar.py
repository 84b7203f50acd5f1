"""Dates as numbers: days since 1970, and recurring parts of the calendar."""

import numpy as np
import pandas as pd

CYCLE_DAYS = {"month": 365, "day": 31, "day_of_week": 7, "hour": 1}
"""Part of a date -> days of one cycle."""


def select_parts(dates: pd.Series, in_order: bool) -> list[str]:
    """Parts that vary. For rows in time order, only parts with two full cycles: others do not recur in later
    rows."""
    present = dates.dropna()
    span = (present.max() - present.min()) / pd.Timedelta(days=1)
    return [
        part
        for part, days in CYCLE_DAYS.items()
        if getattr(present.dt, part).nunique() > 1 and (not in_order or span >= 2 * days)
    ]


def elapsed_days(dates: pd.Series) -> np.ndarray:
    """Days since 1970; missing is nan."""
    days = (dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(dtype="float64", na_value=np.nan))


def calendar_part(dates: pd.Series, part: str) -> np.ndarray:
    return np.asarray(getattr(dates.dt, part).to_numpy(dtype="float64", na_value=np.nan))
