"""Strict JSON out of numpy and pandas: no NaN, no infinity, only Python's own scalars."""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from app.json_types import JsonScalar


def to_json_value(value: Any) -> Any:
    """`value` as strict JSON: what is not finite or is missing becomes None, keys become text."""
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray | pd.Series | pd.Index):
        return [to_json_value(item) for item in value]
    return to_json_scalar(value)


def to_json_scalar(value: Any) -> JsonScalar:
    """One cell of a frame as a JSON scalar; dates become ISO 8601 text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, datetime | date):
        return str(value.isoformat())
    return str(value)


def round_significant(value: float, digits: int = 6) -> float | None:
    """A finite float with `digits` significant digits, else None."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def class_label(value: Any) -> JsonScalar:
    """A class as it is named everywhere: 1.0 and 1 are the same class, and text stays text."""
    named = to_json_scalar(value)
    return int(named) if isinstance(named, float) and named.is_integer() else named
