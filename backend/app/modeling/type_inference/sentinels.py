"""Numbers that stand for missing: -999, 9999, where such a value stands far outside and repeats."""

from typing import Any

import numpy as np
import pandas as pd

NINES = tuple(sign * (10**digits - 1) for digits in range(2, 10) for sign in (-1, 1))
FEWEST = 3
"""Times that the value stands."""
MIN_OTHERS = 5
"""Different other values."""
MIN_OF_TARGET = 20


def sentinels(column: pd.Series, is_target: bool = False) -> dict[float, dict[str, Any]]:
    """Value -> `{"confidence", "evidence"}`. Only the smallest and largest values can be one."""
    values = column.to_numpy(dtype="float64", na_value=np.nan)
    values = values[np.isfinite(values)]
    found: dict[float, dict[str, Any]] = {}
    while len(values):
        low, high = float(values.min()), float(values.max())
        suspect = next((one for one in (low, high) if _is_nines(one)), None)
        if suspect is None:
            break
        others = values[values != suspect]
        count = len(values) - len(others)
        if count < FEWEST or not _is_far(suspect, others, MIN_OF_TARGET if is_target else MIN_OTHERS):
            break
        evidence = {
            "value": suspect,
            "count": count,
            "others": [float(others.min()), float(others.max())],
        }
        sure = suspect < 0 <= others.min() or abs(suspect) > 100 * np.abs(others).max()
        found[suspect] = {"confidence": 0.95 if sure else 0.7, "evidence": evidence}
        values = others
    return found


def _is_nines(value: float) -> bool:
    return value in NINES


def _is_far(suspect: float, others: np.ndarray, fewest: int) -> bool:
    """Further from the nearest other value than all others are spread."""
    if len(others) < 2 or len(np.unique(others[:5000])) < fewest:
        return False
    low, high = float(others.min()), float(others.max())
    away = low - suspect if suspect < low else suspect - high
    return away > 2 * (high - low)
