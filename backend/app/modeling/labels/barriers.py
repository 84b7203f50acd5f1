"""Triple-barrier labels: which comes first, a gain, a loss, or the end of patience."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from app.modeling.table.numeric import to_float

WITHIN = ("open", "high", "low")


@dataclass(frozen=True)
class Ranges:
    """What a price did within its bars (bars,): where it opened, and how far it went."""

    open: np.ndarray
    high: np.ndarray
    low: np.ndarray

    @classmethod
    def of(cls, table: pd.DataFrame, close: np.ndarray) -> Self:
        """Of columns open, high and low; a missing one is as the closes say."""
        opened, high, low = (to_float(table[name]).to_numpy() for name in WITHIN)
        opened = np.where(np.isfinite(opened), opened, np.concatenate([close[:1], close[:-1]]))
        highest, lowest = np.fmax(opened, close), np.fmin(opened, close)
        return cls(opened, np.fmax(high, highest), np.fmin(low, lowest))


def ranges_in(table: pd.DataFrame, target: str) -> dict[str, str]:
    """Which columns of the table are the open, high and low of its closes; nothing where one lacks."""
    columns = {str(name).casefold(): str(name) for name in table.columns}
    if target.casefold() != "close" or not set(WITHIN) <= set(columns):
        return {}
    return {columns[name]: name for name in WITHIN}


@dataclass(frozen=True)
class Barriers:
    """`label`: 1 where the upper barrier is touched first, -1 where the lower one is, 0 where neither is in
    time, nan where the future is too short to tell. `touched`: bars until then. `earned`: the return until
    then. `beyond`: how much of it the closes do not show, as a share of the close before the bar it ends in.
    """

    label: np.ndarray
    touched: np.ndarray
    earned: np.ndarray
    beyond: np.ndarray


def triple_barrier(
    close: np.ndarray,
    width: np.ndarray,
    horizon: int,
    up: float = 1.0,
    down: float = 1.0,
    ranges: Ranges | None = None,
) -> Barriers:
    """López de Prado (2018), chapter 3.

    `close` in order of time; `width`: each bar's usual relative move (its volatility over the horizon, known at
    the time), of which `up` and `down` are multiples; 0 takes a barrier away. With `ranges` a barrier is
    touched within a bar and the trade ends at its price, or at the open of a bar that opens beyond it; of a bar
    that reaches both nobody knows the order, so the lower one counts.
    """
    bars = len(close)
    label, touched, earned, beyond = (np.full(bars, np.nan) for _ in range(4))
    open_rows = np.flatnonzero(np.isfinite(close) & np.isfinite(width) & (width > 0))
    for step in range(1, horizon + 1):
        open_rows = open_rows[open_rows + step < bars]
        at, opened = open_rows + step, close[open_rows]
        high = up * width[open_rows] if up else np.full(len(at), np.inf)
        low = -down * width[open_rows] if down else np.full(len(at), -np.inf)
        moved = close[at] / opened - 1
        rises, falls, ended = moved >= high, moved <= low, moved
        if ranges is not None:
            first = ranges.open[at] / opened - 1
            falls = (ranges.low[at] / opened - 1 <= low) & (first < high)
            rises = (ranges.high[at] / opened - 1 >= high) & ~falls
            ended = np.where(falls, np.minimum(first, low), np.where(rises, np.maximum(first, high), moved))
        ends = rises | falls | (step == horizon)
        done = open_rows[ends]
        label[done] = np.where(rises[ends], 1.0, np.where(falls[ends], -1.0, 0.0))
        touched[done] = step
        earned[done] = ended[ends]
        beyond[done] = ((ended - moved) * opened / close[at - 1])[ends]
        open_rows = open_rows[~ends]
    return Barriers(label, touched, earned, beyond)
