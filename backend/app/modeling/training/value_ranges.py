"""Values outside of the ranges that a model learned from, and times beyond those of its score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.table.column_kinds import ColumnKind

JUDGED_AHEAD = "judged_ahead"
"""Key of a time column in a schema: the time after the training rows that the hold-out covers, in days or units
of the column."""
USUAL_JUDGED_SHARE = 0.25
"""Share of the training time that counts as measured where a model does not say it: the usual hold-out of rows
that come evenly."""
FAR_SHARE = 0.1
"""Distance from the range, as a share of it, from which a score says nothing of a row; new extremes that lie
nearer come with many rows."""
HOURS_PER_DAY = 24
MAX_HOURS = 48
"""Distances below it are written in hours, since whole days would be too coarse."""


@dataclass(frozen=True)
class OutsideValues:
    """Values of a column outside of its range.

    `mask` (rows,); `distance`: of the farthest value, in days or units of the column.
    """

    mask: np.ndarray
    kind: str
    text: str
    distance: float


def find_outside_values(
    values: pd.Series, expected: Mapping[str, Any], is_time: bool = False
) -> OutsideValues | None:
    """Find values outside of the range in training; None without any, or without a range.

    `expected`: the column of the schema. `is_time`: rows are ordered by the column, and later ones are what the
    model is for, as far as the hold-out reached.
    """
    if expected["minimum"] is None or expected["maximum"] is None:
        return None
    is_date = expected["type"] == ColumnKind.DATETIME
    low, high = _to_numbers(pd.Series([expected["minimum"], expected["maximum"]]), is_date)
    numbers = _to_numbers(values, is_date)
    span = float(high - low)
    allowed = float(expected.get(JUDGED_AHEAD) or USUAL_JUDGED_SHARE * span) if is_time else 0.0
    mask = (numbers < low) | (numbers > high + allowed)
    if not mask.any():
        return None
    # One of the two is negative inside the range, so the larger is the distance to the nearer bound.
    distance = float(np.nanmax(np.maximum(low - numbers, numbers - high)[mask]))
    bounds = [_write_bound(expected[name], is_date) for name in ("minimum", "maximum")]
    far = _write_distance(distance, is_date)
    name = expected["name"]
    # A column of times may also have rows before the range; they are told only where none is too late.
    if is_time and float(np.nanmax(numbers)) > high + allowed:
        reach = _write_distance(allowed, is_date)
        measured = f"rows up to {reach} after it" if expected.get(JUDGED_AHEAD) else "rows nearer to it"
        text = (
            f"{name!r} is up to {far} after {bounds[1]}, the last in training. The score was measured on"
            f" {measured}, and says nothing of later ones."
        )
        return OutsideValues(mask, "later_than_judged", text, distance)
    consequence = ": the score says nothing of such rows" if distance > FAR_SHARE * span else ""
    text = (
        f"{name!r} is outside {bounds[0]} to {bounds[1]}, the range in training, by up to {far}{consequence}."
    )
    return OutsideValues(mask, "outside_range", text, distance)


def judged_ahead(train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> dict[str, float]:
    """Measure how long after the training rows the hold-out reached, by the name of the time column.

    Empty for rows that no time orders, and for forecasts, which say how far they look.
    """
    name = problem.time_column
    if name is None or problem.horizon or name not in train.columns or holdout[name].isna().all():
        return {}
    is_date = pd.api.types.is_datetime64_any_dtype(train[name].dtype)
    last, latest = (_to_numbers(frame[name], is_date) for frame in (train, holdout))
    ahead = float(np.nanmax(latest) - np.nanmax(last))
    # Negative after a split without order.
    return {name: ahead} if ahead > 0 else {}


def _to_numbers(values: pd.Series, is_date: bool) -> np.ndarray:
    """Days since 1970, or the numbers themselves, as floats (rows,)."""
    if not is_date:
        numbers: np.ndarray = pd.to_numeric(values, errors="coerce").to_numpy(dtype="float64", na_value=np.nan)
        return numbers
    times = pd.to_datetime(values, errors="coerce")
    days: np.ndarray = ((times - pd.Timestamp(0)) / pd.Timedelta(days=1)).to_numpy(dtype="float64")
    return days


def _write_bound(bound: Any, is_date: bool) -> str:
    if not is_date:
        return f"{bound:g}"
    time = pd.Timestamp(bound)
    # A midnight is a date without a time of day.
    return str(time.date()) if time == time.normalize() else time.isoformat(sep=" ", timespec="minutes")


def _write_distance(distance: float, is_date: bool) -> str:
    if not is_date:
        return f"{distance:g}"
    hours = distance * HOURS_PER_DAY
    return f"{hours:,.0f} hours" if hours < MAX_HOURS else f"{distance:,.0f} days"
