"""Identifiers whose numbers grow with time: rows that come later have codes beyond those of the table."""

import numpy as np
import pandas as pd

from app.modeling.analysis.redundancy import find_identifiers
from app.modeling.problem_definition.time_and_group_columns import MAX_ROWS, is_sorted
from app.modeling.table.numeric import to_float
from app.modeling.type_inference.distinct_values import is_text

MIN_SHARE = 0.98
"""Share of the codes that are built alike; the rest allows for a few typing errors."""
MAX_PARTS = 3
"""Numbers of one code: a year, a month and a count. More are those of a UUID or a version."""
MAX_TARGET_CORRELATION = 0.99
"""Rank correlation with the target from which codes are another writing of it."""


def find_code(frame: pd.DataFrame, target: str) -> str | None:
    """Find the identifier whose numbers may order the rows; one in the order of the file comes first.

    Consecutive numbers from 0 or 1 in the order of the file are none: they tell how the file is sorted, by
    whatever it was.
    """
    names = find_identifiers(frame, keep=[target])
    orders = {name: order for name in names if (order := number_codes(frame[name])) is not None}
    orders = {name: order for name, order in orders.items() if not _only_counts(frame[name])}
    return next((name for name, order in orders.items() if is_sorted(order)), next(iter(orders), None))


def number_codes(column: pd.Series) -> pd.Series | None:
    """Rank the codes (rows,) by their numbers, the first one foremost; missing for codes of another form.

    None for codes without numbers, or of various forms.
    """
    if not is_text(column):
        # Fractions measure something; only whole numbers are handed out in turn.
        is_whole = pd.api.types.is_integer_dtype(column.dtype)
        return column.rank(method="dense") if is_whole else None
    texts = column.astype("str")
    parts = texts.head(MAX_ROWS).str.count(r"\d+")
    count = int(parts.mode().iloc[0]) if len(parts) else 0
    if not 1 <= count <= MAX_PARTS or (parts == count).mean() < MIN_SHARE:
        return None
    # Up to fifteen digits are exact as a float.
    numbers = texts.str.extract(r"^\D*" + r"\D+".join([r"(\d{1,15})"] * count) + r"\D*$").astype("float64")
    complete = numbers.notna().all(axis=1)
    ordered = numbers[complete].sort_values(list(numbers.columns), kind="stable")
    is_new = (ordered.diff() != 0).any(axis=1).to_numpy()
    ranks = pd.Series(np.cumsum(is_new), index=ordered.index, dtype="float64")
    return ranks.reindex(column.index)


def is_target(order: pd.Series, target: pd.Series) -> bool:
    """Return true if the codes are in the order of the target, or against it."""
    ranks = pd.Series(pd.factorize(target, sort=True)[0], index=target.index)
    return abs(float(order.corr(ranks, "spearman"))) >= MAX_TARGET_CORRELATION


def _only_counts(column: pd.Series) -> bool:
    """Return true for consecutive numbers from 0 or 1 in the order of the file."""
    if is_text(column):
        return False
    steps = np.diff(to_float(column).to_numpy())
    return bool((steps == 1).all()) and float(column.iloc[0]) in (0.0, 1.0)
