"""The probability of backtest overfitting: that the best of many trials is below the median on other rows."""

from itertools import combinations

import numpy as np

MIN_PART_BARS = 8
"""Bars of a part: a Sharpe ratio of fewer is noise."""


def probability_of_overfitting(returns: np.ndarray, parts: int = 10) -> float | None:
    """Estimate the probability of backtest overfitting by combinatorially symmetric cross-validation.

    Bailey, Borwein, López de Prado & Zhu (2015). `returns` (bars, trials) in order of time: the bars are cut
    into an even number of `parts`; for every half of them the trial with the highest Sharpe ratio is ranked in
    the other half. Returns the share of halves in which it ranks in the lower half there; None with fewer than
    2 trials or too few bars.
    """
    bars, trials = returns.shape
    # Even, so that each selection of half of the parts has a complement of equal size.
    parts = min(parts, bars // MIN_PART_BARS // 2 * 2)
    if trials < 2 or parts < 2:
        return None
    blocks = np.array_split(returns, parts)
    counts = np.array([len(block) for block in blocks])
    sums = np.array([block.sum(axis=0) for block in blocks])
    squares = np.array([(block**2).sum(axis=0) for block in blocks])
    selections = [np.isin(np.arange(parts), half) for half in combinations(range(parts), parts // 2)]
    halves = np.array(selections)
    inside = _sharpe(halves, counts, sums, squares)
    outside = _sharpe(~halves, counts, sums, squares)
    best = inside.argmax(axis=1)
    rows = np.arange(len(best))
    below = (outside < outside[rows, best][:, None]).sum(axis=1)
    equal = (outside == outside[rows, best][:, None]).sum(axis=1)
    rank = (below + (equal + 1) / 2) / (trials + 1)
    return float((rank <= 0.5).mean())


def _sharpe(halves: np.ndarray, counts: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Sharpe ratios (halves, trials) from the sums of the parts."""
    n = (halves @ counts)[:, None]
    mean = halves @ sums / n
    spread = np.sqrt(np.maximum(halves @ squares / n - mean**2, 0.0))
    ratio: np.ndarray = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 1e-15)
    return ratio
