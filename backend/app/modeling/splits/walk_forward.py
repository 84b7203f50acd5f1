"""Blocks of rows in time order, and walk-forward pairs of training and test rows."""

from collections.abc import Iterator
from itertools import pairwise

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
            # Strictly before: at the moment itself a forecaster would not have the label yet.
            train = train[ends[train] < begins[test[0]]]
        yield train, test


def time_blocks(begins: np.ndarray, count: int) -> list[np.ndarray]:
    """Split row positions into blocks of time of about equal size; fewer only where there are fewer moments."""
    order = np.argsort(begins, kind="stable")
    times = begins[order]
    bounds = np.linspace(0, len(order), count + 1).astype(int)[1:-1]
    # To the left: a cut moves before all rows of its moment, which stay in one block.
    cuts = {int(cut) for cut in np.searchsorted(times, times[bounds], side="left")} - {0}
    if len(cuts) < count - 1:  # several bounds lie in one moment
        _add_cuts(cuts, times, count)
    return [block for block in np.split(order, sorted(cuts)) if len(block)]


def _add_cuts(cuts: set[int], times: np.ndarray, count: int) -> None:
    """Cut the largest blocks of `times` (rows,), which are sorted, between two moments near their middle.

    `cuts` (positions of first rows of blocks) grows until there are `count` blocks, or no moment is left.
    """
    moments = np.flatnonzero(times[1:] != times[:-1]) + 1
    while len(cuts) < count - 1:
        edges = [0, *sorted(cuts), len(times)]
        inner = [moments[(moments > low) & (moments < high)] for low, high in pairwise(edges)]
        sizes = [high - low if len(own) else 0 for own, (low, high) in zip(inner, pairwise(edges), strict=True)]
        largest = int(np.argmax(sizes))
        if not sizes[largest]:
            return
        middle = (edges[largest] + edges[largest + 1]) / 2
        cuts.add(int(inner[largest][np.argmin(np.abs(inner[largest] - middle))]))
