"""What a column holds, judged from its values and not only from its type."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.names import nearest_names


class ColumnKind(StrEnum):
    """`TEXT` is free text or an identifier: too many distinct values to be a category."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"
    DATETIME = "datetime"
    EMPTY = "empty"


MAX_CATEGORIES = 60
"""More distinct texts than this, and more than a tenth of the rows, are not a category any more."""


def column_kind(column: pd.Series) -> ColumnKind:
    """What the values of one column are."""
    plain = _PLAIN.get(column.dtype.kind) if isinstance(column.dtype, np.dtype) else None
    if plain is not None and len(column):
        return ColumnKind.EMPTY if plain is ColumnKind.NUMBER and _has_no_number(column) else plain
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
    few = distinct <= MAX_CATEGORIES and (distinct <= 10 or distinct <= len(values) / 2)
    return ColumnKind.CATEGORY if few or distinct <= len(values) / 50 else ColumnKind.TEXT


_PLAIN = {"b": ColumnKind.BOOLEAN, "i": ColumnKind.NUMBER, "u": ColumnKind.NUMBER, "f": ColumnKind.NUMBER}
"""What numpy's own types hold: asked for each column of wide tables again and again."""


def _has_no_number(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool(np.isnan(column.to_numpy()).all())


def column_kinds(frame: pd.DataFrame) -> dict[str, ColumnKind]:
    return {str(name): column_kind(frame[name]) for name in frame.columns}


def require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raises InvalidInput `unknown_column`, naming the nearest, for a name that is not a column."""
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in known:
            close = nearest_names(name, known)
            hint = f" Did you mean {', '.join(close)}?" if close else f" Columns: {', '.join(known[:20])}."
            raise InvalidInput(
                "unknown_column", f"There is no column {name!r}.{hint}", column=name, nearest=close
            )


def describe_columns(frame: pd.DataFrame) -> list[dict[str, str]]:
    """`[{"name", "type"}]` in order, as frame artifacts carry it."""
    return [{"name": name, "type": kind.value} for name, kind in column_kinds(frame).items()]
