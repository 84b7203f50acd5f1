"""Numeric values of a column, whatever type it is stored as."""

import pandas as pd


def to_float(column: pd.Series) -> pd.Series:
    """Convert a column (rows,) to float64. Values that are no numbers become missing."""
    if column.dtype == "float64":
        return column
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return column.astype("float64")
    return pd.to_numeric(column, errors="coerce").astype("float64")
