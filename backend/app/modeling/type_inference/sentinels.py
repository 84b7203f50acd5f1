"""Numeric codes for missing values: -999 or 9999, if such a value repeats far outside all others."""

from typing import Any

import numpy as np
import pandas as pd

NINES = tuple(
    sign * (10**digits - 1) / 10**decimals
    for digits in range(2, 10)
    for sign in (-1, 1)
    for decimals in range(min(digits - 1, 3 if sign < 0 else 2))
)
"""Numbers of nines: a measure of one decimal has 99.9 or -999.9 for no value. 99.99 is a price."""
MIN_REPEATS = 3
"""Rows with the value: a single one may be an outlier."""
MIN_PLAIN_CODE = 999
"""Size of codes that fewer rows suffice for: 99 is also a share, an age or a count."""
FAR_FACTOR = 10.0
"""Times the largest other value at which two rows with a code suffice, or one below only positive ones."""
MIN_OTHER_VALUES = 5
"""Distinct other values: among fewer, a distance says little."""
MIN_OTHER_TARGET_VALUES = 20
"""The same for a target: a row with a missing target is lost."""


def find_sentinels(column: pd.Series, is_target: bool = False) -> dict[float, dict[str, Any]]:
    """Find codes for missing values: value -> `{"confidence", "evidence"}`.

    Only the smallest and largest values are candidates.
    """
    values = column.to_numpy(dtype="float64", na_value=np.nan)
    values = values[np.isfinite(values)]
    codes: dict[float, dict[str, Any]] = {}
    # Once a code is taken away, a further one is at an end of the values: first -999, then 9999.
    while len(values):
        low, high = float(values.min()), float(values.max())
        suspect = next((value for value in (low, high) if _is_nines(value)), None)
        if suspect is None:
            break
        other_values = values[values != suspect]
        count = len(values) - len(other_values)
        min_values = MIN_OTHER_TARGET_VALUES if is_target else MIN_OTHER_VALUES
        is_code = _is_lone_negative(suspect, count, other_values) or _is_far(suspect, other_values)
        if (
            count < _min_repeats(suspect, other_values)
            or len(np.unique(other_values[:5000])) < min_values
            or not is_code
        ):
            break
        evidence = {
            "value": suspect,
            "count": count,
            "others": [float(other_values.min()), float(other_values.max())],
        }
        is_certain = suspect < 0 <= other_values.min() or abs(suspect) > 100 * np.abs(other_values).max()
        codes[suspect] = {"confidence": 0.95 if is_certain else 0.7, "evidence": evidence}
        values = other_values
    return codes


def _min_repeats(suspect: float, other_values: np.ndarray) -> int:
    """Rows that a code needs: fewer where it is far from what the column measures."""
    largest = float(np.abs(other_values).max()) if len(other_values) else 0.0
    if abs(suspect) < MIN_PLAIN_CODE or abs(suspect) < FAR_FACTOR * largest:
        return MIN_REPEATS
    return 1 if suspect < 0 <= other_values.min() else 2


def _is_nines(value: float) -> bool:
    return value in NINES


def _is_lone_negative(suspect: float, count: int, other_values: np.ndarray) -> bool:
    """Test for -999 that repeats as the only value below zero, as among prices, however large these are."""
    return bool(suspect <= -MIN_PLAIN_CODE and count >= MIN_REPEATS and other_values.min(initial=0.0) >= 0)


def _is_far(suspect: float, other_values: np.ndarray) -> bool:
    """Test whether the suspect is further from the nearest other value than twice the range of the others."""
    if len(other_values) < 2:
        return False
    low, high = float(other_values.min()), float(other_values.max())
    distance = low - suspect if suspect < low else suspect - high
    return distance > 2 * (high - low)
