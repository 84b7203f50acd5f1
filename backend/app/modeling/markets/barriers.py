"""Triple-barrier labels: which comes first, a gain, a loss, or the end of patience."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Barriers:
    """`label`: 1 where the upper barrier is touched first, -1 where the lower one is, 0 where neither is in
    time, nan where the future is too short to tell. `touched`: bars until then. `earned`: the return until
    then.
    """

    label: np.ndarray
    touched: np.ndarray
    earned: np.ndarray


def triple_barrier(
    close: np.ndarray, width: np.ndarray, horizon: int, up: float = 1.0, down: float = 1.0
) -> Barriers:
    """López de Prado (2018), chapter 3.

    `close` in order of time; `width`: each bar's usual relative move (its volatility over the horizon, known at
    the time), of which `up` and `down` are multiples; 0 takes a barrier away.
    """
    bars = len(close)
    label, touched, earned = (np.full(bars, np.nan) for _ in range(3))
    open_rows = np.flatnonzero(np.isfinite(close) & np.isfinite(width) & (width > 0))
    for step in range(1, horizon + 1):
        open_rows = open_rows[open_rows + step < bars]
        moved = close[open_rows + step] / close[open_rows] - 1
        rises = (moved >= up * width[open_rows]) if up else np.zeros(len(open_rows), dtype=bool)
        falls = (moved <= -down * width[open_rows]) if down else np.zeros(len(open_rows), dtype=bool)
        ends = rises | falls | (step == horizon)
        done = open_rows[ends]
        label[done] = np.where(rises[ends], 1.0, np.where(falls[ends], -1.0, 0.0))
        touched[done] = step
        earned[done] = moved[ends]
        open_rows = open_rows[~ends]
    return Barriers(label, touched, earned)
