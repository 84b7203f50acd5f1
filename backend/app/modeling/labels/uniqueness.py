"""Average uniqueness of labels that look ahead over shared bars (López de Prado 2018, chapter 4)."""

import numpy as np


def average_uniqueness(begins: np.ndarray, ends: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Average, over the bars of each label (labels,), one over the number of labels that share the bar.

    `begins`, `ends`: the time of each row and of the bar that settles its label; a label spans the bars after
    its row, up to that one. `bars`: every bar's time, in order. A label without an end gets 0.
    """
    first = np.searchsorted(bars, begins, side="right")
    has_end = ~np.isnat(ends) if ends.dtype.kind in "mM" else ~np.isnan(ends.astype("float64"))
    last = np.where(has_end, np.searchsorted(bars, ends, side="right"), first)
    active = has_end & (last > first)
    changes = np.zeros(len(bars) + 1)
    # Unlike `changes[...] += 1`, it counts each of several labels that begin at one bar.
    np.add.at(changes, first[active], 1)
    np.add.at(changes, last[active], -1)
    label_counts = np.cumsum(changes[:-1])
    bar_shares = np.divide(1.0, label_counts, out=np.zeros_like(label_counts), where=label_counts > 0)
    totals = np.concatenate([[0.0], np.cumsum(bar_shares)])
    uniqueness = np.zeros(len(begins))
    uniqueness[active] = (totals[last[active]] - totals[first[active]]) / (last[active] - first[active])
    return uniqueness


def uniqueness_weights(begins: np.ndarray, ends: np.ndarray, bars: np.ndarray) -> np.ndarray:
    """Scale average uniqueness to a mean of 1 (labels,); all ones where no label has an end."""
    uniqueness = average_uniqueness(begins, ends, bars)
    total = float(uniqueness.sum())
    weights: np.ndarray = uniqueness * len(uniqueness) / total if total > 0 else np.ones(len(uniqueness))
    return weights
