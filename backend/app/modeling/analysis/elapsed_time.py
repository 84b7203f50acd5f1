"""Time as an input of models that predict later rows, where it is measured to help."""

import pandas as pd

from app.modeling.analysis.assumptions.later_rows import predict_later
from app.modeling.analysis.assumptions.measurement import FOLDS
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import RecipeJson
from app.modeling.recipe.transforms.dates import Elapsed
from app.modeling.table.sampling import sample_rows

MAX_ROWS, MAX_CELLS = 5_000, 100_000
"""Rows and cells of the measurement: 5,000 rows of 6 columns take 0.2 s with one thread, 1,000 of 100 1 s."""


def suggest_elapsed_time(frame: pd.DataFrame, problem: Problem, seed: int = 0, threads: int = 1) -> RecipeJson:
    """Suggest the time since the first row as a feature if later rows are predicted better with it.

    Both are scored on later rows of the training frame. Forecasts have a horizon and look back instead.
    """
    if problem.time_column is None or problem.horizon:
        return []
    sampled = sample_rows(len(frame), min(MAX_ROWS, MAX_CELLS // max(frame.shape[1], 1)), seed)
    sample = frame.iloc[sampled].dropna(subset=[problem.time_column])
    ordered = sample.sort_values(problem.time_column, kind="stable").reset_index(drop=True)
    later = predict_later(ordered, problem, FOLDS, seed, threads)
    return [Elapsed(column=problem.time_column).model_dump()] if later and later.uses_time else []
