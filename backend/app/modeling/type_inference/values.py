"""Text columns as Arrow arrays of their different values: each value is read once, however often it stands."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

_SPACES = "[\u00a0\u2009\u202f]"
_SIGNS = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "\u2019": "'"})


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


def counted(column: pd.Series) -> dict[str, int]:
    """How often each value stands, by its trimmed text, the most frequent first, missing ones left out."""
    counts: dict[str, int] = {}
    for value, count in as_plain_text(column).value_counts().items():
        text = str(value).translate(_SIGNS).strip()
        counts[text] = counts.get(text, 0) + int(count)
    return counts
