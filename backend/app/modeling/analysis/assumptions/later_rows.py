"""Predictions of the latest rows by models of the earlier ones, which see the time where that helps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import (
    SidePredictions,
    compare_scores,
    number_time_blocks,
    predict_out_of_fold,
)
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.transforms.dates import Elapsed

MIN_TIMES = 4
"""Distinct times of the rows from which the time is tried as an input: fewer show no rise."""


@dataclass(frozen=True)
class LaterRows:
    """Predictions of the rows of the last fold. `uses_time`: the time since the first row is an input."""

    predictions: SidePredictions
    uses_time: bool


def predict_later(
    ordered: pd.DataFrame,
    problem: Problem,
    folds: int,
    seed: int = 0,
    threads: int = 1,
    allows: Callable[[float], bool] = lambda _: True,
) -> LaterRows | None:
    """Predict the last of `folds` folds in time of `ordered`, sorted by the problem's time column.

    Time is hidden from models of later rows, since no model has seen a later time. But where a level rises or
    falls for all rows, the last time tells more about later ones than the mean of all: then the time since the
    first row is an input. `allows` (seconds): false if as much again would not end in time. None if rows do not
    suffice.
    """
    column = str(problem.time_column)
    plan = FoldPlan(SplitKind.TIME, folds, seed)
    without_time = predict_out_of_fold(ordered, problem, plan, threads, is_last_only=True)
    if without_time is None:
        return None
    if ordered[column].nunique() < MIN_TIMES or not allows(without_time.seconds):
        return LaterRows(without_time, False)
    elapsed = Elapsed(column=column)
    with_column = elapsed.apply(ordered, elapsed.fit(ordered), None)
    with_time = predict_out_of_fold(with_column, problem, plan, threads, is_last_only=True)
    if with_time is None:
        return LaterRows(without_time, False)
    rows = np.flatnonzero(with_time.tested & without_time.tested)
    blocks = number_time_blocks(ordered[column], rows)
    compared = compare_scores(with_time, without_time, problem, blocks, seed=seed)
    helps = compared is not None and compared.difference_bounds[0] > 0
    return LaterRows(with_time if helps else without_time, helps)
