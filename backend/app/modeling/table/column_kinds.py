"""Kinds of columns, judged from their values and not only from their dtype."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.name_resolution import hint_names, nearest_names


class ColumnKind(StrEnum):
    """`TEXT` is free text or an identifier: too many distinct values to be a category."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"
    DATETIME = "datetime"
    EMPTY = "empty"


MAX_CATEGORIES = 60
"""Distinct texts from which on a column is text, unless values repeat often (see `column_kind`)."""


def column_kind(column: pd.Series) -> ColumnKind:
    """Classify one column by its values."""
    numpy_kind = _NUMPY_KINDS.get(column.dtype.kind) if isinstance(column.dtype, np.dtype) else None
    if numpy_kind is not None and len(column):
        is_empty = numpy_kind is ColumnKind.NUMBER and _has_no_number(column)
        return ColumnKind.EMPTY if is_empty else numpy_kind
    if column.isna().all():
        return ColumnKind.EMPTY
    if pd.api.types.is_bool_dtype(column.dtype):
        return ColumnKind.BOOLEAN
    if pd.api.types.is_numeric_dtype(column.dtype):
        return ColumnKind.NUMBER
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return ColumnKind.DATETIME
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ColumnKind.CATEGORY
    values = column.dropna().astype(str)
    distinct = values.nunique()
    # Up to ten texts are categories even of a small table, where each may occur once.
    is_small = distinct <= MAX_CATEGORIES and (distinct <= 10 or distinct <= len(values) / 2)
    return ColumnKind.CATEGORY if is_small or distinct <= len(values) / 50 else ColumnKind.TEXT


_NUMPY_KINDS = {"b": ColumnKind.BOOLEAN, "i": ColumnKind.NUMBER, "u": ColumnKind.NUMBER, "f": ColumnKind.NUMBER}
"""Kinds of numpy dtypes: a shortcut, as wide tables ask for the kind of each column many times."""


def _has_no_number(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool(np.isnan(column.to_numpy()).all())


def column_kinds(frame: pd.DataFrame) -> dict[str, ColumnKind]:
    return {str(name): column_kind(frame[name]) for name in frame.columns}


def require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise InvalidInput `unknown_column`, with the nearest names, for a name that is not a column."""
    columns = [str(name) for name in frame.columns]
    for name in names:
        if name not in columns:
            close = nearest_names(name, columns)
            detail = f"There is no column {name!r}. {hint_names(close, columns)}"
            raise InvalidInput("unknown_column", detail, column=name, nearest=close)


def describe_columns(frame: pd.DataFrame) -> list[dict[str, str]]:
    """`[{"name", "type"}]` of each column in order, as stored in the meta of frame artifacts."""
    return [{"name": name, "type": kind.value} for name, kind in column_kinds(frame).items()]
