"""Labels of axes of time."""

from collections.abc import Iterable
from typing import Any


def time_labels(moments: Iterable[Any]) -> dict[str, str]:
    """Choose Vega's format for the labels of moments in ISO 8601; empty where Vega labels them well by itself.

    Vega names months without their year, and drops the year where its label has no room.
    """
    unit = time_unit(moments)
    if unit == "year":
        # Without the count, a year of few rows would be labelled several times.
        return {"format": "%Y", "tickCount": "year"}
    return {"format": "%b %Y"} if unit == "yearmonth" else {}


def time_unit(moments: Iterable[Any]) -> str | None:
    """Find Vega's name of the longest period at whose begin all moments in ISO 8601 lie; None below a day."""
    texts = {str(moment) for moment in moments if moment is not None}
    days = {text[:10] for text in texts if text[10:].strip("T :0") == ""}
    if not days or len(days) < len(texts):
        return None
    if all(day.endswith("-01-01") for day in days):
        return "year"
    return "yearmonth" if all(day.endswith("-01") for day in days) else "yearmonthdate"
