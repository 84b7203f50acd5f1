"""Time as an input of models that predict later rows, where it is measured to help."""

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import FOLDS, MIN_UNITS, compare_scores, predict_out_of_fold
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson
from app.modeling.recipe.transforms.dates import Elapsed
from app.modeling.splits.walk_forward import time_blocks
from app.modeling.table.sampling import sample_rows

MAX_ROWS, MAX_CELLS = 5_000, 100_000
"""Rows and cells of the measurement: 5,000 rows of 6 columns take 0.7 s with one thread."""
TIME_BLOCKS = 12
"""Blocks of the bootstrap over later rows: as many as leave each of them a period of its own."""


def suggest_elapsed_time(frame: pd.DataFrame, problem: Problem, seed: int = 0, threads: int = 1) -> RecipeJson:
    """Suggest the time since the first row as a feature if later rows are predicted better with it.

    Time is hidden from models of later rows, since no model has seen a later time. But where a level rises or
    falls for all rows, the last time tells more about later ones than the mean of all: both are scored on later
    rows of the training frame. Forecasts have a horizon and look back instead.
    """
    if problem.time_column is None or problem.horizon:
        return []
    operation = Elapsed(column=problem.time_column)
    rows = min(MAX_ROWS, MAX_CELLS // max(frame.shape[1], 1))
    sample = frame.iloc[sample_rows(len(frame), rows, seed)].dropna(subset=[problem.time_column])
    ordered = sample.sort_values(problem.time_column, kind="stable").reset_index(drop=True)
    if ordered[problem.time_column].nunique() <= FOLDS:
        return []
    plan = FoldPlan(SplitKind.TIME, FOLDS, seed)
    with_time = predict_out_of_fold(
        operation.apply(ordered, operation.fit(ordered), None), problem, plan, threads
    )
    without_time = predict_out_of_fold(ordered, problem, plan, threads) if with_time else None
    if with_time is None or without_time is None:
        return []
    blocks = _number_blocks(
        ordered[problem.time_column], np.flatnonzero(with_time.tested & without_time.tested)
    )
    compared = compare_scores(with_time, without_time, problem, blocks, seed=seed)
    return [operation.model_dump()] if compared and compared.difference_bounds[0] > 0 else []


def _number_blocks(times: pd.Series, rows: np.ndarray) -> np.ndarray | None:
    """Number the blocks of time (all rows,) that the bootstrap draws whole; None for few of them draws rows."""
    blocks = time_blocks(pd.factorize(times, sort=True)[0][rows], TIME_BLOCKS)
    if len(blocks) < MIN_UNITS:
        return None
    numbers = np.zeros(len(times), dtype=int)
    for number, block in enumerate(blocks):
        numbers[rows[block]] = number
    return numbers
