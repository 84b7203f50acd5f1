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
from app.sandbox.exchange.answer_limits import AnswerLimits

MAX_PREVIEW_ROWS = 50
"""Rows of a frame that stand in a value: as many as a reader looks through; the frame itself can be kept."""
MAX_DEPTH = 30
"""Levels that are converted, far below those that `answer_limits` allows; a container may hold itself."""
MAX_REPR_CHARACTERS = 2_000
"""Characters of the text that stands for an object of an unknown type."""


def to_json(value: object, depth: int = 0) -> JsonValue:
    """Convert `value` to plain JSON: NaN and infinity to null, a frame to its first rows, others to a repr."""
    if value is None or isinstance(value, bool):
        return value
    if depth > MAX_DEPTH:
        return "..."
    for kinds, convert in _CONVERSIONS:
        if isinstance(value, kinds):
            return convert(value, depth + 1)
    return repr(value)[:MAX_REPR_CHARACTERS]


def encode(value: object, limit_bytes: int, max_keys: int | None = None) -> JsonValue:
    """Convert `value` to plain JSON. Raises TooLarge when it has more bytes of JSON or more keys."""
    plain = to_json(value)
    AnswerLimits(limit_bytes, max_keys).check(plain, len(json.dumps(plain)))
    return plain


def _number(value: Any, depth: int) -> JsonValue:
    number = float(value)
    return number if math.isfinite(number) else None


def _mapping(value: Mapping[Any, Any], depth: int) -> JsonValue:
    return {str(key): to_json(item, depth) for key, item in value.items()}


def _sequence(value: Any, depth: int) -> JsonValue:
    return [to_json(item, depth) for item in value]


def _frame(value: pd.DataFrame, depth: int) -> JsonValue:
    head = _with_labels(value.head(MAX_PREVIEW_ROWS))
    return {
        "columns": [_column_name(name) for name in head.columns],
        # Plain tuples: names of columns need not be names of Python.
        "rows": [[to_json(cell, depth) for cell in row] for row in head.itertuples(index=False, name=None)],
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


def _series(value: Any, depth: int) -> JsonValue:
    # The name of a groupby's labels would be lost in a mapping, and groups are rows, not columns.
    if value.index.nlevels > 1 or value.index.name is not None or len(value) > MAX_PREVIEW_ROWS:
        return _frame(to_table(value), depth)
    return _mapping(value.to_dict(), depth)


def _missing(value: object, depth: int) -> JsonValue:
    return None


# The first row whose types fit converts, so that subclasses stand before their bases: an Enum before int.
_CONVERSIONS: tuple[tuple[tuple[type, ...], Callable[[Any, int], JsonValue]], ...] = (
    ((str,), lambda value, depth: str(value)),
    ((type(pd.NaT), type(pd.NA)), _missing),
    ((Enum,), lambda value, depth: to_json(value.value, depth)),
    ((np.bool_,), lambda value, depth: bool(value)),
    ((int, np.integer), lambda value, depth: int(value)),
    ((float, np.floating), _number),
    ((datetime.date, datetime.time, pd.Period), lambda value, depth: str(value)),
    ((datetime.timedelta, np.datetime64, np.timedelta64, PurePath, bytes), lambda value, depth: str(value)),
    ((pd.DataFrame,), _frame),
    ((pd.Series,), _series),
    ((pd.Index, np.ndarray), lambda value, depth: _sequence(value.tolist(), depth)),
    ((Mapping,), _mapping),
    ((list, tuple), _sequence),
    ((AbstractSet,), lambda value, depth: _sequence(sorted(value, key=repr), depth)),
)
