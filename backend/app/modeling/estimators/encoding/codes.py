"""Codes of columns: what is learned from one column, as strict JSON, and the encoding of its values."""

from typing import Any

import numpy as np
import pandas as pd

from app.modeling.recipe.transforms.columns import to_category_text
from app.modeling.recipe.transforms.dates import to_dates
from app.modeling.table.numeric import to_float

Code = dict[str, Any]

MAX_CATEGORIES = 2000
"""Categories of one column; rarer ones are encoded as unseen."""


def to_finite_number(column: pd.Series) -> np.ndarray:
    """Convert a column to finite floats; dates become days since 1970, anything else nan."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        column = (to_dates(column) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    values = to_float(column).to_numpy(dtype="float64", na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def learn_categories(column: pd.Series, max_categories: int = MAX_CATEGORIES, min_count: int = 1) -> Code:
    """Categories with at least `min_count` rows, most frequent first, and their counts."""
    counts = to_category_text(column).value_counts()
    counts = counts[counts >= min_count].iloc[:max_categories]
    return {"categories": [str(value) for value in counts.index], "counts": [int(count) for count in counts]}


def category_positions(column: pd.Series, categories: list[str]) -> np.ndarray:
    """Position of each value among the categories (rows,); -1 for missing and unseen values."""
    return pd.Index(categories, dtype="object").get_indexer(pd.Index(to_category_text(column), dtype="object"))
