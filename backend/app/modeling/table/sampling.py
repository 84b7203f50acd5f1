"""Rows in parts, so that what is learned on some can be tried on the others."""

import numpy as np

FOLD_COUNT = 5


def sample_rows(rows: int, max_rows: int, seed: int) -> np.ndarray:
    """Positions of all rows, or of `most` of them at random, in order."""
    if rows <= max_rows:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:max_rows])


def assign_folds(rows: int, folds: np.ndarray | None, seed: int) -> np.ndarray:
    """The part of each row: as given where there are at least two, else five at random."""
    if folds is not None and len(np.unique(folds)) > 1:
        return folds
    return np.random.default_rng(seed).permutation(rows) % min(FOLD_COUNT, max(rows, 1))
