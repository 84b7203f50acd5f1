"""How much a label tells that others do not: labels that look ahead over the same bars share what they say."""

import numpy as np


def average_uniqueness(begins: np.ndarray, ends: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """The mean over a label's bars of one over how many labels share it (López de Prado 2018, chapter 4).

    `begins`, `ends`: the time of each row and of the bar that settles its label; a label lives on the bars
    after its row, until that one. `bars`: every bar's time, in order. A label without an end has 0.
    """
    first = np.searchsorted(bars, begins, side="right")
    known = ~np.isnat(ends) if ends.dtype.kind in "mM" else ~np.isnan(ends.astype("float64"))
    last = np.where(known, np.searchsorted(bars, ends, side="right"), first)
    alive = known & (last > first)
    changes = np.zeros(len(bars) + 1)
    np.add.at(changes, first[alive], 1)
    np.add.at(changes, last[alive], -1)
    shared = np.cumsum(changes[:-1])
    share = np.concatenate(
        [[0.0], np.cumsum(np.divide(1.0, shared, out=np.zeros_like(shared), where=shared > 0))]
    )
    found = np.zeros(len(begins))
    found[alive] = (share[last[alive]] - share[first[alive]]) / (last[alive] - first[alive])
    return found


def sample_weights(begins: np.ndarray, ends: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Average uniqueness, scaled so that its mean is 1; ones where nothing is known."""
    unique = average_uniqueness(begins, ends, bars)
    total = float(unique.sum())
    weights: np.ndarray = unique * len(unique) / total if total > 0 else np.ones(len(unique))
    return weights
