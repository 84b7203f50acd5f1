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
    """Inputs without any value before the time `first` of `time_column`.

    `group_columns` tell groups apart whose rows stay on one side; empty without groups.
    """

    names: tuple[str, ...]
    time_column: str
    first: Any
    group_columns: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        names = " and ".join(map(repr, self.names))
        verb = "are" if len(self.names) > 1 else "is"
        groups = f", in whole groups of {' and '.join(map(repr, self.group_columns))}" * bool(
            self.group_columns
        )
        return (
            f"{names} {verb} filled in only from {self.time_column!r} {self.first} on, the latest one: half of"
            f" these rows, at random{groups}, are the hold-out, so that a model learns from the others."
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
    first = times[filled[[*names]].any(axis=1)].min()
    return LateColumns(names, time_column, first, problem.group_columns)


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


def draw_late_rows(
    late: LateColumns, times: pd.Series, max_rows: int, seed: int, groups: pd.Series | None = None
) -> np.ndarray | None:
    """Mask (rows,) of hold-out rows at random from those with late columns: half of them, at most `max_rows`.

    `groups`: the group of each row; only groups without an earlier row are drawn, with all of their rows. None
    if too few rows are left to learn from, or can be drawn.
    """
    is_late = (times >= late.first).to_numpy()
    count = min(int(is_late.sum()) // 2, max_rows)
    if count < MIN_ROWS:
        return None
    random = np.random.default_rng(seed)
    is_holdout = np.zeros(len(times), dtype=bool)
    if groups is None:
        is_holdout[random.permutation(np.flatnonzero(is_late))[:count]] = True
        return is_holdout
    codes, names = pd.factorize(groups)
    drawable = np.setdiff1d(np.arange(len(names)), codes[~is_late])
    group_order = random.permutation(drawable)
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))[group_order]
    is_holdout = np.isin(codes, group_order[np.cumsum(sizes) <= count])
    return is_holdout if is_holdout.sum() >= MIN_ROWS else None
