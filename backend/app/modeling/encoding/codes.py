"""What is learned of one column, in strict JSON, and what its values become."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from app.modeling.operations.columns import as_text
from app.modeling.operations.dates import as_dates
from app.modeling.operations.step import quiet_float

Code = dict[str, Any]

QUANTILES = 200
FEW_NUMBERS = 12
MOST_PLACES = 2000


def as_number(column: pd.Series) -> np.ndarray:
    """Finite floats; dates are days since 1970; anything else is missing."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = (as_dates(column) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    values = quiet_float(column).to_numpy(dtype="float64", na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def learn_places(column: pd.Series, most: int = MOST_PLACES, seen: int = 1) -> Code:
    """Categories, most frequent first, with how often each was seen."""
    counts = as_text(column).value_counts()
    counts = counts[counts >= seen].iloc[:most]
    return {"categories": [str(value) for value in counts.index], "counts": [int(count) for count in counts]}


def places(column: pd.Series, categories: list[str]) -> np.ndarray:
    """The place of each value among the categories; -1 for one that is missing or was never seen."""
    return pd.Index(categories, dtype="object").get_indexer(pd.Index(as_text(column), dtype="object"))


def learn_scale(values: np.ndarray) -> Code:
    """Median, spread and quantiles of known values."""
    known = values[~np.isnan(values)]
    if not len(known):
        return {"median": 0.0, "mean": 0.0, "scale": 1.0, "quantiles": [0.0, 1.0], "flag": False}
    filled = np.where(np.isnan(values), np.median(known), values)
    at = np.linspace(0, 1, min(QUANTILES, max(len(known) // 2, 2)))
    return {
        "median": float(np.median(known)),
        "mean": float(filled.mean()),
        "scale": float(filled.std()) or 1.0,
        "quantiles": [float(value) for value in np.quantile(known, at)],
        "flag": bool(len(known) < len(values)),
    }


def scaled(values: np.ndarray, code: Code) -> np.ndarray:
    """Unit variance, missing as the median, held within 6 deviations."""
    filled = np.where(np.isnan(values), code["median"], values)
    return np.asarray(np.clip((filled - code["mean"]) / code["scale"], -6, 6))


def normal(values: np.ndarray, code: Code) -> np.ndarray:
    """The place among training values, as a normal deviate within 3; ties lie in the middle of their places."""
    quantiles = np.array(code["quantiles"])
    filled = np.where(np.isnan(values), code["median"], values)
    at = np.linspace(0, 1, len(quantiles))
    share = (np.interp(filled, quantiles, at) - np.interp(-filled, -quantiles[::-1], -at[::-1])) / 2
    return np.asarray(np.clip(ndtri(np.clip(share, 1e-3, 1 - 1e-3)), -3, 3))


def few_numbers(values: np.ndarray) -> list[float]:
    """The values of a number that takes only a few, else none: they may be kinds rather than amounts."""
    found = np.unique(values[~np.isnan(values)])
    return [float(value) for value in found] if 2 < len(found) <= FEW_NUMBERS else []
