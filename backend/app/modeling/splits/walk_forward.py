"""Blocks of rows in time order, and walk-forward pairs of training and test rows."""

from collections.abc import Iterator

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]
"""Positions of training rows and of test rows."""


def walk_forward(blocks: list[np.ndarray], begins: np.ndarray, ends: np.ndarray | None) -> Iterator[Pair]:
    """Yield each block but the first as test rows, with the earlier rows that may train a model for it.

    A row may train only if its label is known before the block begins; all earlier rows may if `ends` is None.
    `begins`, `ends` (rows,): the time of each row and the time at which its label is known.
    """
    for number, test in enumerate(blocks[1:], start=1):
        train = np.concatenate(blocks[:number])
        if ends is not None:
            train = train[ends[train] < begins[test[0]]]
        yield train, test


def time_blocks(begins: np.ndarray, count: int) -> list[np.ndarray]:
    """Split row positions into blocks of time of about equal size; fewer where many rows share a moment."""
    order = np.argsort(begins, kind="stable")
    times = begins[order]
    bounds = np.linspace(0, len(order), count + 1).astype(int)[1:-1]
    cuts = np.unique(np.searchsorted(times, times[bounds], side="left"))
    return [block for block in np.split(order, cuts) if len(block)]
