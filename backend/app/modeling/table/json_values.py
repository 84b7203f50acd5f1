"""Conversion of numpy and pandas values to strict JSON: no NaN, no infinity, only Python's own scalars."""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd

from app.json_types import JsonScalar


def to_json_value(value: Any) -> Any:
    """Convert nested containers to strict JSON: missing and non-finite values become None, keys become text."""
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray | pd.Series | pd.Index):
        return [to_json_value(item) for item in value]
    return to_json_scalar(value)


def to_json_scalar(value: Any) -> JsonScalar:
    """Convert one cell of a frame to a JSON scalar; dates become ISO 8601 text."""
    if value is None or isinstance(value, str):
        return value
    # Before the whole numbers, of which bool is one in Python.
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
    """Round to `digits` significant digits; None for a value that is not finite."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def class_label(value: Any) -> JsonScalar:
    """The canonical JSON value of a class: 1.0 and 1 are the same class, text stays text."""
    label = to_json_scalar(value)
    return int(label) if isinstance(label, float) and label.is_integer() else label
