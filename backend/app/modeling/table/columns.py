"""What a column holds, judged from its values and not only from its type."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.problem.names import nearest


class Holds(StrEnum):
    """`TEXT` is free text or an identifier: too many distinct values to be a category."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"
    DATETIME = "datetime"
    EMPTY = "empty"


MAX_CATEGORIES = 60
"""More distinct texts than this, and more than a tenth of the rows, are not a category any more."""


def holds(column: pd.Series) -> Holds:
    """What the values of one column are."""
    plain = _PLAIN.get(column.dtype.kind) if isinstance(column.dtype, np.dtype) else None
    if plain is not None and len(column):
        return Holds.EMPTY if plain is Holds.NUMBER and _has_no_number(column) else plain
    if column.isna().all():
        return Holds.EMPTY
    if pd.api.types.is_bool_dtype(column.dtype):
        return Holds.BOOLEAN
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Holds.NUMBER
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Holds.DATETIME
    if isinstance(column.dtype, pd.CategoricalDtype):
        return Holds.CATEGORY
    values = column.dropna().astype(str)
    distinct = values.nunique()
    few = distinct <= MAX_CATEGORIES and (distinct <= 10 or distinct <= len(values) / 2)
    return Holds.CATEGORY if few or distinct <= len(values) / 50 else Holds.TEXT


_PLAIN = {"b": Holds.BOOLEAN, "i": Holds.NUMBER, "u": Holds.NUMBER, "f": Holds.NUMBER}
"""What numpy's own types hold: asked for each column of wide tables again and again."""


def _has_no_number(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool(np.isnan(column.to_numpy()).all())


def kinds(frame: pd.DataFrame) -> dict[str, Holds]:
    return {str(name): holds(frame[name]) for name in frame.columns}


def require(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raises InvalidInput `unknown_column`, naming the nearest, for a name that is not a column."""
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in known:
            close = nearest(name, known)
            hint = f" Did you mean {', '.join(close)}?" if close else f" Columns: {', '.join(known[:20])}."
            raise InvalidInput(
                "unknown_column", f"There is no column {name!r}.{hint}", column=name, nearest=close
            )


def describe(frame: pd.DataFrame) -> list[dict[str, str]]:
    """`[{"name", "type"}]` in order, as frame artifacts carry it."""
    return [{"name": name, "type": kind.value} for name, kind in kinds(frame).items()]
