"""Labels of axes of time."""

from collections.abc import Iterable
from datetime import date
from itertools import pairwise
from typing import Any

MAX_WIDE_BARS = 120
"""Periods: of more, a bar is thinner than the five pixels that Vega gives to a moment."""
_DAYS = {"year": 365, "yearmonth": 30, "yearmonthdate": 1}
"""Days of a period, about."""


def time_labels(moments: Iterable[Any]) -> dict[str, str]:
    """Choose Vega's format for the labels of moments in ISO 8601; empty where Vega labels them well by itself.

    Vega names months without their year, and drops the year where its label has no room.
    """
    unit = time_unit(moments)
    if unit == "year":
        # Without the count, a year of few rows would be labelled several times.
        return {"format": "%Y", "tickCount": "year"}
    return {"format": "%b %Y"} if unit == "yearmonth" else {}


def bar_unit(moments: Iterable[Any]) -> str | None:
    """Find Vega's name of the period that a bar at each of these moments is as wide as.

    None where such bars would be too thin: of days that lie apart, as those of weeks do, and of many periods.
    """
    texts = [str(moment) for moment in moments if moment is not None]
    unit = time_unit(texts)
    if unit is None:
        return None
    days = sorted({date.fromisoformat(text[:10]) for text in texts})
    periods = (days[-1] - days[0]).days / _DAYS[unit] + 1
    is_sparse = unit == "yearmonthdate" and any((b - a).days > 1 for a, b in pairwise(days))
    return None if is_sparse or periods > MAX_WIDE_BARS else unit


def time_unit(moments: Iterable[Any]) -> str | None:
    """Find Vega's name of the longest period at whose begin all moments in ISO 8601 lie; None below a day."""
    texts = {str(moment) for moment in moments if moment is not None}
    days = {text[:10] for text in texts if text[10:].strip("T :0") == ""}
    if not days or len(days) < len(texts):
        return None
    if all(day.endswith("-01-01") for day in days):
        return "year"
    return "yearmonth" if all(day.endswith("-01") for day in days) else "yearmonthdate"
