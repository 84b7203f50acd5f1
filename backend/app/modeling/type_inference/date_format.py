"""Is a column of dates, and how are they spelled? Day or month first is decided from the column's evidence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import pyarrow as pa

from app.modeling.type_inference.dates import EPOCHS, SPELLINGS, read_dates

SHARE = 0.95
FIRST_LOOK = 60
_LOOKS = {spelling: re.compile(pattern.replace(r"\pL", r"[^\W\d_]")) for spelling, pattern in SPELLINGS.items()}
_PAIR = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2")
TIME_NAME = re.compile(
    r"date|time|(^|[_\W])(ts|at|on|epoch|day|datum|dob|created|updated|modified)$|[a-z](At|Ts|On)$|zeit|fecha",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DateGuess:
    """`spellings` as they are frequent; `sure` when the order of day and month is known, `why` how."""

    spellings: tuple[str, ...]
    day_first: bool
    sure: bool
    share: float
    why: str


def guess_dates(values: Mapping[str, int], in_order: pd.Series) -> DateGuess | None:
    """From the different values (trimmed text -> how often), and the texts in the order of the rows."""
    first = list(islice(values, FIRST_LOOK))
    likely = {spelling for text in first for spelling, known in _LOOKS.items() if known.match(text)}
    if not likely or sum(any(_LOOKS[one].match(text) for one in likely) for text in first) < SHARE * len(first):
        return None
    texts, weights = pa.array(values, pa.string()), np.fromiter(values.values(), dtype="int64")
    left = np.ones(len(values), dtype=bool)
    found: dict[str, int] = {}
    for spelling in SPELLINGS:
        known = ~np.isnat(read_dates(texts, [spelling], False)) & left
        if known.any():
            found[spelling] = int(weights[known].sum())
            left &= ~known
    share = sum(found.values()) / int(weights.sum())
    if share < SHARE or (set(found) == {"yearmonthday"} and len(values) < 10):
        return None
    spellings = tuple(sorted(found, key=lambda one: -found[one]))
    if "day and month" not in found:
        return DateGuess(spellings, False, True, share, "")
    return _ordered(spellings, share, values, in_order)


def _ordered(
    spellings: tuple[str, ...], share: float, values: Mapping[str, int], in_order: pd.Series
) -> DateGuess:
    """Decided by what cannot be a month, then by the order of the rows, then by custom (and not sure then)."""
    pairs = [(found, count) for text, count in values.items() if (found := _PAIR.match(text))]
    day = sum(count for found, count in pairs if int(found[1]) > 12)
    month = sum(count for found, count in pairs if int(found[3]) > 12)
    if day or month:
        why = f"{max(day, month)} values can only be {'day' if day >= month else 'month'} first"
        return DateGuess(spellings, day >= month, min(day, month) < 0.05 * max(day, month), share, why)
    sorted_ = {order: _order(in_order, spellings, order) for order in (True, False)}
    if max(sorted_.values()) >= 0.98 > min(sorted_.values()):
        return DateGuess(spellings, sorted_[True] >= 0.98, True, share, "so the rows lie in order")
    dotted = sum(found[2] == "." for found, _ in pairs) > len(pairs) / 2
    return DateGuess(spellings, dotted, dotted, share, "by the mark between them")


def _order(in_order: pd.Series, spellings: tuple[str, ...], day_first: bool) -> float:
    """The share of neighbours in one direction, repeats left out."""
    dates = read_dates(pa.array(in_order.to_numpy(dtype=object), pa.string()), spellings, day_first)
    steps = np.diff(dates[~np.isnat(dates)].astype("int64"))
    steps = steps[steps != 0]
    return max(float((steps > 0).mean()), float((steps < 0).mean())) if len(steps) >= 5 else 0.0


_RANGES = {"s": (8.5e8, 2.2e9), "ms": (8.5e11, 2.2e12), "us": (8.5e14, 2.2e15)}
"""From 1996 to 2039."""


def guess_epoch(column: pd.Series) -> str | None:
    """What a column of whole numbers counts, where it is moments: `s`, `ms`, `us` since 1970, or `yyyymmdd`.

    Its name must say so, or it must rise with the rows; whole numbers that are all dates need neither.
    """
    values = column.dropna().to_numpy(dtype="float64")
    if len(values) < 5 or (values != np.round(values)).any():
        return None
    low, high = values.min(), values.max()
    if low >= 15000101 and high <= 25001231:
        return _as_days(values)
    unit = next((unit for unit in EPOCHS if _RANGES[unit][0] <= low and high <= _RANGES[unit][1]), None)
    if unit is None or len(np.unique(values)) < 5:
        return None
    rises = bool((np.diff(values) >= 0).mean() >= 0.98)
    return unit if rises or TIME_NAME.search(str(column.name)) else None


def _as_days(values: np.ndarray) -> str | None:
    days = pa.array([str(int(value)) for value in np.unique(values)[:2000]], pa.string())
    known = ~np.isnat(read_dates(days, ["yearmonthday"], False))
    return "yyyymmdd" if len(days) >= 10 and known.all() else None
