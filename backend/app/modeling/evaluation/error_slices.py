"""Errors of single rows, and the slices of rows in which a model errs more than elsewhere."""

from collections.abc import Iterator
from typing import TypedDict

import numpy as np
import pandas as pd

from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.unit_means import measure_excess
from app.modeling.table.json_values import round_significant

MAX_SLICES = 8
"""Slices that are named, the worst first: an agent works on one or two of them."""
MIN_ROWS = 20
"""Rows of a slice and of the others: a mean of fewer errors says little."""
MAX_VALUES = 20
"""Distinct values of a column that are slices by themselves; numbers with more are cut into quarters."""
QUARTERS = 4
"""Slices of a number or date: enough to show where it matters, each with many rows."""
SIGNIFICANCE = 0.05
"""Probability that any slice is named by chance, shared by all that are compared (Bonferroni)."""


class ErrorSlice(TypedDict):
    """Rows with `value` in `column`, their mean error and that of all other rows. `error`: see `row_errors`."""

    column: str
    value: str
    rows: int
    error: float | None
    error_elsewhere: float | None


def row_errors(predicted: Predicted) -> np.ndarray:
    """Return the error of each row (rows,): the absolute one, or 1 minus the probability of the true class."""
    if predicted.output.ndim == 1:
        distances: np.ndarray = np.abs(predicted.output - predicted.truth)
        return distances
    rows = np.arange(len(predicted.truth))
    errors: np.ndarray = 1.0 - predicted.output[rows, predicted.truth.astype(int)]
    return errors


def find_error_slices(
    inputs: pd.DataFrame, errors: np.ndarray, units: IndependentUnits | None = None
) -> list[ErrorSlice]:
    """Find slices by one column each whose rows have larger errors than the others, beyond chance.

    `inputs`: the rows (rows, columns) as they were before features. The worst comes first. `units`: those
    of the rows, see `find_units`; None for single rows.
    """
    unit_of_row = (units or IndependentUnits.of_rows(len(inputs))).unit_of_row
    compared = [
        (column, value, is_inside)
        for column, value, is_inside in _slices(inputs)
        if min(is_inside.sum(), (~is_inside).sum()) >= MIN_ROWS
    ]
    ranked: list[tuple[float, ErrorSlice]] = []
    for column, value, is_inside in compared:
        inside, outside = errors[is_inside], errors[~is_inside]
        statistic, probability = measure_excess(errors, is_inside, unit_of_row)
        if probability * len(compared) < SIGNIFICANCE:
            entry = ErrorSlice(
                column=column,
                value=value,
                rows=len(inside),
                error=round_significant(float(inside.mean())),
                error_elsewhere=round_significant(float(outside.mean())),
            )
            ranked.append((statistic, entry))
    return [entry for _, entry in sorted(ranked, key=lambda pair: -pair[0])[:MAX_SLICES]]


def _slices(inputs: pd.DataFrame) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield column, value and membership (rows,) of each slice."""
    for name in inputs.columns:
        column = inputs[name]
        missing = column.isna().to_numpy()
        if missing.any():
            yield str(name), "missing", missing
        values = column[~missing]
        if values.nunique() <= MAX_VALUES:
            for value in sorted(values.unique(), key=str):
                yield str(name), str(value), (column == value).fillna(False).to_numpy(dtype=bool)
        elif pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
            yield from _quarters(str(name), column)


def _quarters(name: str, column: pd.Series) -> Iterator[tuple[str, str, np.ndarray]]:
    # Quarters of a number with one frequent value may share an edge, which qcut refuses.
    quarters = pd.qcut(column, QUARTERS, duplicates="drop")
    for interval in quarters.cat.categories:
        label = f"above {interval.left} up to {interval.right}"
        yield name, label, (quarters == interval).to_numpy(dtype=bool)
