"""From which probability the positive class is chosen."""

import numpy as np

from app.modeling.scores import Predicted


def best_threshold(predicted: Predicted) -> float:
    """The probability with the highest F1 of the positive class on these rows (they must be out of fold).

    The middle of the best plateau of 0.05 to 0.95, so that one row does not move it.
    """
    truth = predicted.is_positive
    grid = np.linspace(0.05, 0.95, 91)
    said = predicted.positive_share[:, None] >= grid[None, :]
    hits = (said & (truth[:, None] == 1)).sum(axis=0)
    f1 = 2 * hits / np.maximum(said.sum(axis=0) + truth.sum(), 1)
    near_best = grid[f1 >= f1.max() - 0.002]
    return round(float(np.median(near_best)), 2)
