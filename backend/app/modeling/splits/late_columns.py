"""Columns that are filled in only from a late time on: a hold-out of the latest rows may take all values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs

MIN_FILLED_SHARE = 0.2
"""Share of the latest rows with a value: a column with fewer changes no split."""
MIN_ROWS = 50
"""Rows with late columns on each side of a split: fewer teach nothing, or judge nothing."""


@dataclass(frozen=True)
class LateColumns:
    """Inputs without any value before the time `first` of `time_column`."""

    names: tuple[str, ...]
    time_column: str
    first: Any

    @property
    def reason(self) -> str:
        names = " and ".join(map(repr, self.names))
        verb = "are" if len(self.names) > 1 else "is"
        return (
            f"{names} {verb} filled in only from {self.time_column!r} {self.first} on, the latest one: half of"
            " these rows, at random, are the hold-out, so that a model learns from the others."
        )


def find_late_columns(rows: pd.DataFrame, problem: Problem, start: Any) -> LateColumns | None:
    """Find the inputs that only rows from the time `start` on have; None without any."""
    time_column = str(problem.time_column)
    times = rows[time_column]
    is_late = (times >= start).to_numpy()
    filled = select_inputs(rows, problem).notna()
    names = tuple(
        str(name)
        for name in filled.columns
        if not filled[name].to_numpy()[~is_late].any()
        and filled[name].to_numpy()[is_late].mean() >= MIN_FILLED_SHARE
    )
    if not names:
        return None
    return LateColumns(names, time_column, times[filled[[*names]].any(axis=1)].min())


def start_after(late: LateColumns, times: pd.Series) -> Any:
    """Return the time that parts the rows with late columns in two.

    `times`: of all rows, in order. None for late columns of one time, or of too few rows.
    """
    late_times = times[times >= late.first]
    middle = late_times.iloc[len(late_times) // 2]
    # Rows of one moment stay on one side, and some late rows must be left to learn from.
    if middle == late.first:
        middle = late_times[late_times > late.first].min()
    held_out = int((late_times >= middle).sum())
    return middle if MIN_ROWS <= held_out <= len(late_times) - MIN_ROWS else None


def draw_late_rows(late: LateColumns, times: pd.Series, max_rows: int, seed: int) -> np.ndarray | None:
    """Mask (rows,) of hold-out rows at random from those with late columns: half of them, at most `max_rows`.

    None if too few are left to learn from.
    """
    positions = np.flatnonzero((times >= late.first).to_numpy())
    count = min(len(positions) // 2, max_rows)
    if count < MIN_ROWS:
        return None
    is_holdout = np.zeros(len(times), dtype=bool)
    is_holdout[np.random.default_rng(seed).permutation(positions)[:count]] = True
    return is_holdout
