"""Columns that number the rows, in whichever order: identifiers without a name for it."""

import re

import numpy as np
import pandas as pd

from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.numeric import to_float

ROW_NUMBER_NAME = re.compile(r"(^|_|\s)(id|index|idx|row|rownum|rowid|nr|no)$|^unnamed|Id$|ID$", re.IGNORECASE)
_YEAR_NAME = re.compile(r"year|jahr|^yr$|date|month|day", re.IGNORECASE)


def looks_like_row_number(column: pd.Series) -> bool:
    """Return true for distinct whole numbers that rise or fall with the rows and leave few gaps: an
    identifier."""
    if _is_fractional(column) or column_kind(column) is not ColumnKind.NUMBER:
        return False
    if column.isna().any() or _YEAR_NAME.search(str(column.name)):
        return False
    values = to_float(column).to_numpy()
    if len(values) < 20 or (values != np.round(values)).any() or len(np.unique(values)) < len(values):
        return False
    steps = np.diff(values)
    monotonic = bool((steps > 0).all() or (steps < 0).all())
    # Half of the rows may be gone since they were numbered, as in a sample or a filtered file.
    dense = values.max() - values.min() < 2 * len(values)
    is_named = bool(ROW_NUMBER_NAME.search(str(column.name)))
    return bool(monotonic and dense) or (is_named and bool(monotonic or dense))


def _is_fractional(column: pd.Series) -> bool:
    """Return true if the first values are fractional or missing."""
    # A few values rule out most measurements, without a pass over the column.
    first = column.to_numpy()[:20]
    return first.dtype.kind == "f" and bool((first != np.round(first)).any())
