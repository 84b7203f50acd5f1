"""Detection of columns that are averages of the target over rows that include the row itself or later ones."""

import numpy as np
import pandas as pd

from app.modeling.facts.leaks import Leak
from app.modeling.labels.labels import make_labels
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.recipe.time_series import split_series
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.numeric import to_float

SPANS = (2, 3, 4, 5, 7, 10, 14, 20, 28, 30)
"""Rows over which averages of the target are made, back, ahead and around."""
MIN_EXPLAINED = 0.97
"""Explained variance of a column that is such an average, but for rounding and the ends of the file."""
MIN_GAIN = 0.1
"""Explained variance that the row itself and later ones add to earlier ones: a level that hardly moves is told
by earlier rows as well."""
MIN_ROWS = 100
"""Rows with a value: two halves of fewer cannot fit and test a regression on all spans."""


def find_target_averages(frame: pd.DataFrame, problem: Problem) -> list[Leak]:
    """Find numbers that averages of the target over present and later rows explain, and earlier rows do not.

    Only in problems of numbers whose rows are in time order, without a horizon.
    """
    if problem.horizon or not problem.time_column or problem.is_classification:
        return []
    # The longest series is enough: a column is computed alike in all of them.
    series = max(split_series(frame, problem), key=len)
    ordered = frame.iloc[series]
    target = make_labels(ordered, problem).reset_index(drop=True).astype("float64")
    # Without the row itself, which a forecaster would not know yet.
    earlier = _averages(target.shift(1), [(span, 0) for span in SPANS])
    later = _averages(target, [(span, ahead) for span in SPANS for ahead in {0, span // 2, span - 1}])
    leaks: list[Leak] = []
    inputs = select_inputs(ordered, problem)
    for name in inputs.columns:
        if name == problem.time_column or column_kind(inputs[name]) is not ColumnKind.NUMBER:
            continue
        values = to_float(inputs[name]).reset_index(drop=True)
        explained = _best_explained(values, later)
        if explained >= MIN_EXPLAINED and explained - _best_explained(values, earlier) >= MIN_GAIN:
            text = (
                f"{str(name)!r} is an average of {problem.target!r} over rows up to later ones ({explained:.1%}"
                " explained): it is written after the outcome."
            )
            evidence = {"explained": round(explained, 4)}
            leaks.append(
                {
                    "column": str(name),
                    "kind": "peeks_ahead",
                    "text": text,
                    "certain": False,
                    "evidence_of": "time",
                    "evidence": evidence,
                }
            )
    return leaks


def _averages(target: pd.Series, windows: list[tuple[int, int]]) -> list[pd.Series]:
    """Moving averages of the target; a window has `span` rows, of which `ahead` are later ones."""
    return [target.rolling(span, min_periods=1).mean().shift(-ahead) for span, ahead in windows]


def _best_explained(values: pd.Series, averages: list[pd.Series]) -> float:
    """The largest squared correlation of a column with one of the averages."""
    best = 0.0
    for average in averages:
        both = values.notna() & average.notna()
        if both.sum() >= MIN_ROWS and values[both].std() > 0 and average[both].std() > 0:
            best = max(best, float(np.corrcoef(values[both], average[both])[0, 1] ** 2))
    return best
