"""Triple-barrier labels: whether a gain, a loss or the time limit comes first."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from app.modeling.table.numeric import to_float

RANGE_COLUMNS = ("open", "high", "low")


@dataclass(frozen=True)
class PriceRanges:
    """Opening, highest and lowest prices of bars (bars,)."""

    open: np.ndarray
    high: np.ndarray
    low: np.ndarray

    @classmethod
    def from_table(cls, table: pd.DataFrame, close: np.ndarray) -> Self:
        """Read the columns open, high and low; missing values are filled from the closes."""
        opens, high, low = (to_float(table[name]).to_numpy() for name in RANGE_COLUMNS)
        opens = np.where(np.isfinite(opens), opens, np.concatenate([close[:1], close[:-1]]))
        # A high below the close, as faulty bars have, would miss a barrier that the close passed.
        highest, lowest = np.fmax(opens, close), np.fmin(opens, close)
        return cls(opens, np.fmax(high, highest), np.fmin(low, lowest))


def find_range_columns(table: pd.DataFrame, target: str) -> dict[str, str]:
    """Map the table's columns for open, high and low to these names; empty if one is missing or the target
    is no close."""
    columns = {str(name).casefold(): str(name) for name in table.columns}
    if target.casefold() != "close" or not set(RANGE_COLUMNS) <= set(columns):
        return {}
    return {columns[name]: name for name in RANGE_COLUMNS}


@dataclass(frozen=True)
class BarrierOutcomes:
    """Outcomes of trades opened at each bar (bars,).

    `label`: 1 if the upper barrier is touched first, -1 if the lower one is, 0 if neither is in time, nan if
    the future is too short to tell. `touched`: bars until then. `earned`: the return until then. `excess`: the
    part of that return which the closes do not show, as a share of the close before the bar in which the trade
    ends.
    """

    label: np.ndarray
    touched: np.ndarray
    earned: np.ndarray
    excess: np.ndarray


def triple_barrier(
    close: np.ndarray,
    width: np.ndarray,
    horizon: int,
    up: float = 1.0,
    down: float = 1.0,
    ranges: PriceRanges | None = None,
) -> BarrierOutcomes:
    """Label trades by the barrier that the price touches first (López de Prado 2018, chapter 3).

    `close` in order of time; `width`: each bar's usual relative move (its volatility over the horizon, known at
    the time), of which `up` and `down` are multiples; 0 removes a barrier. With `ranges` a barrier is touched
    within a bar and the trade ends at its price, or at the open of a bar that opens beyond it. If a bar reaches
    both, the order is unknown, so the lower barrier counts.
    """
    bars = len(close)
    label, touched, earned, excess = (np.full(bars, np.nan) for _ in range(4))
    open_rows = np.flatnonzero(np.isfinite(close) & np.isfinite(width) & (width > 0))
    # By step, not by trade: all open trades move one bar at once.
    for step in range(1, horizon + 1):
        # Trades that the last bar cuts have no label: counting them as undecided would favour calm endings.
        open_rows = open_rows[open_rows + step < bars]
        at, entry = open_rows + step, close[open_rows]
        high = up * width[open_rows] if up else np.full(len(at), np.inf)
        low = -down * width[open_rows] if down else np.full(len(at), -np.inf)
        returns = close[at] / entry - 1
        rises, falls, exits = returns >= high, returns <= low, returns
        if ranges is not None:
            first = ranges.open[at] / entry - 1
            # A bar that opens above the upper barrier ended the trade there, before it could fall.
            falls = (ranges.low[at] / entry - 1 <= low) & (first < high)
            rises = (ranges.high[at] / entry - 1 >= high) & ~falls
            exits = np.where(falls, np.minimum(first, low), np.where(rises, np.maximum(first, high), returns))
        ends = rises | falls | (step == horizon)
        done = open_rows[ends]
        label[done] = np.where(rises[ends], 1.0, np.where(falls[ends], -1.0, 0.0))
        touched[done] = step
        earned[done] = exits[ends]
        # As a return on the close before the last bar, which is what a position over that bar earns on.
        excess[done] = ((exits - returns) * entry / close[at - 1])[ends]
        open_rows = open_rows[~ends]
    return BarrierOutcomes(label, touched, earned, excess)
