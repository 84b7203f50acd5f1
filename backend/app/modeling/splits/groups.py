"""Groups of rows that stay on one side of every split."""

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem


def group_labels(frame: pd.DataFrame, problem: Problem) -> np.ndarray:
    """Return the group of each row as text (rows,)."""
    first, *others = (frame[name].astype("str") for name in problem.group_columns)
    labels = first
    for other in others:
        # The separator keeps ("1", "23") and ("12", "3") apart.
        labels = labels + "\n" + other
    return labels.to_numpy()


def find_groups(frame: pd.DataFrame, problem: Problem) -> pd.Series | None:
    """Return the group of each row (rows,) with the index of the frame; None without groups."""
    if problem.group_column is None:
        return None
    if not problem.group_with:
        return frame[problem.group_column]
    return pd.Series(group_labels(frame, problem), index=frame.index)
