"""Conversion of a computation's value to bounded JSON. Runs inside the cell."""

import datetime
import json
import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from app.json_types import JsonValue
from app.sandbox.exchange.answer_limits import MAX_DEPTH, MAX_PREVIEW_ROWS, AnswerLimits, too_deep

MAX_REPR_CHARACTERS = 2_000
"""Characters of the text that stands for an object of an unknown type."""


def to_json(value: object, levels: int = MAX_DEPTH) -> JsonValue:
    """Convert `value` to plain JSON: NaN and infinity to null, a frame to its first rows, others to a repr.

    Raises TooLarge for a value of more than `levels` arrays and objects in each other.
    """
    if value is None or isinstance(value, bool):
        return value
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value, levels)
    return repr(value)[:MAX_REPR_CHARACTERS]


def encode(value: object, limits: AnswerLimits) -> JsonValue:
    """Convert `value` to plain JSON. Raises TooLarge when it is beyond `limits`."""
    plain = to_json(value, limits.max_depth)
    limits.check(plain, len(json.dumps(plain)))
    return plain


def _enter(levels: int) -> int:
    """Return the levels that are left inside a container. Raises TooLarge if there is none for it."""
    # At the first branch that is too deep, so that a value that contains itself twice is not unfolded.
    if levels < 1:
        raise too_deep(MAX_DEPTH)
    return levels - 1


def _number(value: Any, levels: int) -> JsonValue:
    number = float(value)
    return number if math.isfinite(number) else None


def _mapping(value: Mapping[Any, Any], levels: int) -> JsonValue:
    inner = _enter(levels)
    return {str(key): to_json(item, inner) for key, item in value.items()}


def _sequence(value: Any, levels: int) -> JsonValue:
    inner = _enter(levels)
    return [to_json(item, inner) for item in value]


def _frame(value: pd.DataFrame, levels: int) -> JsonValue:
    inner = _enter(_enter(_enter(levels)))  # the object, its array of rows, and a row
    head = _with_labels(value.head(MAX_PREVIEW_ROWS))
    return {
        "columns": [_column_name(name) for name in head.columns],
        # Plain tuples: names of columns need not be names of Python.
        "rows": [[to_json(cell, inner) for cell in row] for row in head.itertuples(index=False, name=None)],
        "row_count": len(value),
    }


def to_table(value: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return a frame or a series as the table whose first rows `to_json` shows, with texts as names."""
    table = _with_labels(
        value.to_frame("value" if value.name is None else value.name) if isinstance(value, pd.Series) else value
    )
    return table.set_axis([_column_name(name) for name in table.columns], axis=1)


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its row labels as columns: after a groupby they are the names of the groups."""
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        return frame
    if frame.index.nlevels == 1 and frame.index.name is None and pd.api.types.is_integer_dtype(frame.index):
        return frame  # rows that a filter or a sort has left, under their former numbers
    labels = frame.index.to_frame(index=False)
    labels.columns = pd.Index([_label_name(name, place) for place, name in enumerate(frame.index.names)])
    columns = frame.reset_index(drop=True)
    columns.columns = pd.Index([_column_name(name) for name in frame.columns])
    return pd.concat([labels, columns], axis=1)


def _label_name(name: object, place: int) -> str:
    return str(name) if name is not None else f"level_{place}" if place else "index"


def _column_name(name: object) -> str:
    """Return a column's name; the levels of one are joined, as in `price mean`."""
    return " ".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else str(name)


def _series(value: Any, levels: int) -> JsonValue:
    # The name of a groupby's labels would be lost in a mapping, and groups are rows, not columns.
    if value.index.nlevels > 1 or value.index.name is not None or len(value) > MAX_PREVIEW_ROWS:
        return _frame(to_table(value), levels)
    return _mapping(value.to_dict(), levels)


def _missing(value: object, levels: int) -> JsonValue:
    return None


# The first row whose types fit converts, so that subclasses stand before their bases: an Enum before int.
_CONVERSIONS: tuple[tuple[tuple[type, ...], Callable[[Any, int], JsonValue]], ...] = (
    ((str,), lambda value, levels: str(value)),
    ((type(pd.NaT), type(pd.NA)), _missing),
    ((Enum,), lambda value, levels: to_json(value.value, levels)),
    ((np.bool_,), lambda value, levels: bool(value)),
    ((int, np.integer), lambda value, levels: int(value)),
    ((float, np.floating), _number),
    ((datetime.date, datetime.time, pd.Period), lambda value, levels: str(value)),
    ((datetime.timedelta, np.datetime64, np.timedelta64, PurePath, bytes), lambda value, levels: str(value)),
    ((pd.DataFrame,), _frame),
    ((pd.Series,), _series),
    ((pd.Index, np.ndarray), lambda value, levels: _sequence(value.tolist(), levels)),
    ((Mapping,), _mapping),
    ((list, tuple), _sequence),
    ((AbstractSet,), lambda value, levels: _sequence(sorted(value, key=repr), levels)),
)
