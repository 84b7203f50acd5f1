"""Random samples and folds of rows."""

import numpy as np

FOLD_COUNT = 5
"""Random folds where the caller has none: the usual number."""


def sample_rows(rows: int, max_rows: int, seed: int) -> np.ndarray:
    """Positions of all rows, or of a random `max_rows` of them, ascending."""
    if rows <= max_rows:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:max_rows])


def assign_folds(rows: int, folds: np.ndarray | None, seed: int) -> np.ndarray:
    """The fold of each row (rows,): `folds` if it names at least two, else `FOLD_COUNT` random ones."""
    if folds is not None and len(np.unique(folds)) > 1:
        return folds
    return np.random.default_rng(seed).permutation(rows) % min(FOLD_COUNT, max(rows, 1))
