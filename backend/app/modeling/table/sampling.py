"""Rows in parts, so that what is learned on some can be tried on the others."""

import numpy as np

COUNT = 5


def sample_of(rows: int, most: int, seed: int) -> np.ndarray:
    """Positions of all rows, or of `most` of them at random, in order."""
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:most])


def parts_of(rows: int, given: np.ndarray | None, seed: int) -> np.ndarray:
    """The part of each row: as given where there are at least two, else five at random."""
    if given is not None and len(np.unique(given)) > 1:
        return given
    return np.random.default_rng(seed).permutation(rows) % min(COUNT, max(rows, 1))
