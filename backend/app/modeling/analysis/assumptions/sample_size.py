"""The number of rows that measurements can take in their time."""

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.training.deadline import Deadline

SECONDS_PER_CELL = 6e-6
"""Time of one measured cell (row x column) and side, with one thread: 5,000 rows of 16 columns take 0.5 s."""
BASE_SECONDS = 0.15
"""Fixed time of one side of a measurement."""
MIN_ROWS, MAX_ROWS = 200, 20_000
"""Rows of a measurement: fewer tell no difference from chance, more refine a figure that is known well."""


def sample_size(frame: pd.DataFrame, problem: Problem, sides: int, deadline: Deadline) -> int:
    """Number of rows that `sides` measurements can take in the time left, on a machine that others may use.

    Without a limit, counts of rows alone bound the time.
    """
    working_s = deadline.working_s
    if working_s is None:
        return MAX_ROWS
    classes = len(problem.classes or ())
    # Boosting grows a tree for each of several classes in every round.
    width = max(frame.shape[1], 1) * (classes if classes > 2 else 1)
    seconds = working_s / max(sides, 1) - BASE_SECONDS
    return int(np.clip(seconds / (SECONDS_PER_CELL * width), 0, MAX_ROWS))
