"""Text columns as Arrow arrays of their distinct values, so that each value is parsed once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from app.modeling.type_inference.vocabulary import OTHER_MARKS

_SIGNS = str.maketrans(OTHER_MARKS)
_PATTERNS = {
    plain: "[" + "".join(mark for mark, other in OTHER_MARKS.items() if other == plain) + "]"
    for plain in dict.fromkeys(OTHER_MARKS.values())
}
"""Plain mark -> pattern of the marks that stand for it."""


def is_text(column: pd.Series) -> bool:
    """Test for text, or for a mixed column that may hold some."""
    dtype = column.dtype
    return isinstance(dtype, pd.StringDtype | pd.CategoricalDtype) or pd.api.types.is_object_dtype(dtype)


def to_plain_text(column: pd.Series) -> pd.Series:
    """Convert values to text; missing values stay missing."""
    return column if isinstance(column.dtype, pd.StringDtype) else column.astype("str").where(column.notna())


def _factorize(column: pd.Series) -> tuple[np.ndarray, pd.Series]:
    """Return the place of each value among the distinct texts of a column (-1: missing), and these texts.

    Dates are converted after the search for distinct ones, since Python spells each by itself. A mixed column
    is converted first: there 1 and True are equal.
    """
    if pd.api.types.infer_dtype(column, skipna=True) == "date":
        codes, dates = pd.factorize(column)
        return codes, to_plain_text(pd.Series(dates))
    codes, texts = pd.factorize(to_plain_text(column))
    return codes, pd.Series(texts)


def map_distinct(column: pd.Series, parse: Callable[[pa.Array], np.ndarray], empty: Any) -> pd.Series:
    """Apply `parse` to the distinct values (trimmed) of a column; `empty` for missing ones."""
    codes, values = _factorize(column)
    if not len(values):
        return pd.Series(empty, index=column.index)
    parsed = parse(trim_texts(pa.array(values, pa.string())))
    # numpy would take code -1 of a missing value for the last text.
    row_values = parsed[np.maximum(codes, 0)]
    row_values[codes < 0] = empty
    return pd.Series(row_values, index=column.index, name=column.name)


def trim_texts(texts: pa.Array) -> pa.Array:
    """Strip texts, and normalise spaces, minus signs and apostrophes to ASCII."""
    # Most columns are ASCII and need no pattern.
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        for plain, pattern in _PATTERNS.items():
            texts = pc.replace_substring_regex(texts, pattern=pattern, replacement=plain)
    return pc.utf8_trim_whitespace(texts)


def count_values(column: pd.Series) -> dict[str, int]:
    """Count rows by trimmed text, the most frequent first, missing values left out."""
    counts: dict[str, int] = {}
    for value, count in to_plain_text(column).value_counts().items():
        text = str(value).translate(_SIGNS).strip()
        counts[text] = counts.get(text, 0) + int(count)
    return counts


def count_raw_values(column: pd.Series) -> dict[str, int]:
    """Count rows by raw text, surrounding space included, missing values left out."""
    return {str(value): int(count) for value, count in to_plain_text(column).value_counts().items()}
