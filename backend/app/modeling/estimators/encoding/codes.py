"""What is learned of one column, in strict JSON, and what its values become."""

from typing import Any

import numpy as np
import pandas as pd

from app.modeling.recipe.transforms.columns import as_text
from app.modeling.recipe.transforms.dates import as_dates
from app.modeling.table.numeric import to_float

Code = dict[str, Any]

MAX_PLACES = 2000


def as_number(column: pd.Series) -> np.ndarray:
    """Finite floats; dates are days since 1970; anything else is missing."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = (as_dates(column) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    values = to_float(column).to_numpy(dtype="float64", na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def learn_places(column: pd.Series, most: int = MAX_PLACES, seen: int = 1) -> Code:
    """Categories, most frequent first, with how often each was seen."""
    counts = as_text(column).value_counts()
    counts = counts[counts >= seen].iloc[:most]
    return {"categories": [str(value) for value in counts.index], "counts": [int(count) for count in counts]}


def places(column: pd.Series, categories: list[str]) -> np.ndarray:
    """The place of each value among the categories; -1 for one that is missing or was never seen."""
    return pd.Index(categories, dtype="object").get_indexer(pd.Index(as_text(column), dtype="object"))
