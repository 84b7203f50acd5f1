"""Time as an input of models that predict later rows, where it is measured to help."""

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import (
    FOLDS,
    SidePredictions,
    compare_scores,
    number_time_blocks,
    predict_out_of_fold,
)
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson
from app.modeling.recipe.transforms.dates import Elapsed
from app.modeling.table.sampling import sample_rows

MAX_ROWS, MAX_CELLS = 5_000, 100_000
"""Rows and cells of the measurement: 5,000 rows of 6 columns take 0.2 s with one thread, 1,000 of 100 1 s."""


def suggest_elapsed_time(frame: pd.DataFrame, problem: Problem, seed: int = 0, threads: int = 1) -> RecipeJson:
    """Suggest the time since the first row as a feature if later rows are predicted better with it.

    Time is hidden from models of later rows, since no model has seen a later time. But where a level rises or
    falls for all rows, the last time tells more about later ones than the mean of all: both are scored on later
    rows of the training frame. Forecasts have a horizon and look back instead.
    """
    if problem.time_column is None or problem.horizon:
        return []
    operation = Elapsed(column=problem.time_column)
    sampled = sample_rows(len(frame), min(MAX_ROWS, MAX_CELLS // max(frame.shape[1], 1)), seed)
    sample = frame.iloc[sampled].dropna(subset=[problem.time_column])
    ordered = sample.sort_values(problem.time_column, kind="stable").reset_index(drop=True)
    if ordered[problem.time_column].nunique() <= FOLDS:
        return []
    with_column = operation.apply(ordered, operation.fit(ordered), None)
    with_time = _predict_latest(with_column, problem, seed, threads)
    without_time = _predict_latest(ordered, problem, seed, threads) if with_time else None
    if with_time is None or without_time is None:
        return []
    rows = np.flatnonzero(with_time.tested & without_time.tested)
    blocks = number_time_blocks(ordered[problem.time_column], rows)
    compared = compare_scores(with_time, without_time, problem, blocks, seed=seed)
    return [operation.model_dump()] if compared and compared.difference_bounds[0] > 0 else []


def _predict_latest(frame: pd.DataFrame, problem: Problem, seed: int, threads: int) -> SidePredictions | None:
    """Predict the latest rows of a frame by a model of the earlier ones."""
    plan = FoldPlan(SplitKind.TIME, FOLDS, seed)
    return predict_out_of_fold(frame, problem, plan, threads, is_last_only=True)
