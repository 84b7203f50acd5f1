"""Text columns as Arrow arrays of their different values: each value is read once, however often it stands."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_SPACES = "[\u00a0\u2009\u202f]"


def is_text(column: pd.Series) -> bool:
    """Text, or a mixed column that may hold some."""
    dtype = column.dtype
    return isinstance(dtype, pd.StringDtype | pd.CategoricalDtype) or pd.api.types.is_object_dtype(dtype)


def as_plain_text(column: pd.Series) -> pd.Series:
    """The values as text, missing kept missing."""
    return column if isinstance(column.dtype, pd.StringDtype) else column.astype("str").where(column.notna())


def by_value(column: pd.Series, read: Callable[[pa.Array], np.ndarray], empty: Any) -> pd.Series:
    """`read` applied to the different values (trimmed), spread over the rows; `empty` where there is none."""
    codes, values = pd.factorize(as_plain_text(column))
    if not len(values):
        return pd.Series(empty, index=column.index)
    known = read(trimmed(pa.array(values, pa.string())))
    spread = known[np.maximum(codes, 0)]
    spread[codes < 0] = empty
    return pd.Series(spread, index=column.index, name=column.name)


def trimmed(texts: pa.Array) -> pa.Array:
    """Without space around, with one kind of space, minus and apostrophe."""
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        texts = pc.replace_substring_regex(texts, pattern=_SPACES, replacement=" ")
        texts = pc.replace_substring(texts, pattern="\u2212", replacement="-")
        texts = pc.replace_substring(texts, pattern="\u2019", replacement="'")
    return pc.utf8_trim_whitespace(texts)


def counted(column: pd.Series) -> pd.Series:
    """How often each value stands, by its trimmed text; missing values are not counted."""
    counts = as_plain_text(column).value_counts()
    texts = trimmed(pa.array(counts.index.to_numpy(dtype=object), pa.string()))
    return pd.Series(counts.to_numpy(), index=texts.to_pylist()).groupby(level=0, sort=False).sum()
