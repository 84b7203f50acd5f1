"""Columns that hold the target in steps: a price band, a grade, a rounded amount."""

import numpy as np
import pandas as pd

MIN_STEPS = 3
"""Distinct values: two parts of a target's range are also two kinds of rows."""
MIN_ROWS_PER_STEP = 20
"""Mean rows of a value: with fewer, values keep apart by chance."""
EDGE = 0.005
"""Share of the rows of a value that may lie in the range of another."""


def agrees_in_steps(column: pd.Series, labels: pd.Series) -> float:
    """Share of the rows whose number lies in the range of the target that their value in `column` stands for.

    Ranges do not overlap, and are those that part the values best. 0 for columns with other than a few values.
    """
    present = column.notna()
    codes, values = pd.factorize(column[present])
    target = labels[present].to_numpy(dtype="float64")
    if not MIN_STEPS <= len(values) <= len(target) / MIN_ROWS_PER_STEP:
        return 0.0
    groups = pd.Series(target).groupby(codes)
    levels = {"low": groups.quantile(EDGE), "middle": groups.median(), "high": groups.quantile(1 - EDGE)}
    quantiles = pd.DataFrame(levels).sort_values("middle")
    places = np.empty(len(values), dtype=int)
    places[quantiles.index.to_numpy()] = np.arange(len(values))
    lows, highs = quantiles["low"].to_numpy(), quantiles["high"].to_numpy()
    # Between the inner quantiles, so that a few misplaced rows do not make ranges overlap.
    bounds = (highs[:-1] + lows[1:]) / 2
    if (np.diff(bounds) <= 0).any():
        return 0.0
    return float((np.searchsorted(bounds, target) == places[codes]).mean())
