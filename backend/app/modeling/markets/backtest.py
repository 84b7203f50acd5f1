"""A strategy played over bars: what it holds, what it pays, what is left."""

from dataclasses import dataclass

import numpy as np

BPS = 1e-4


@dataclass(frozen=True)
class Terms:
    """Costs in basis points of the traded value, limits of positions as shares of a coin's capital.

    `fee_bps` and `slippage_bps` are paid on each side: opening and closing a position costs both twice.
    """

    fee_bps: float = 0.0
    slippage_bps: float = 0.0
    low: float = -1.0
    high: float = 1.0

    @property
    def cost(self) -> float:
        """Of trading one unit of capital once."""
        return (self.fee_bps + self.slippage_bps) * BPS

    @property
    def round_trip(self) -> float:
        return 2 * self.cost


@dataclass(frozen=True)
class StrategyReturns:
    """A played strategy. Row t holds what is decided at the close of bar t and what bar t + 1 makes of it.

    `positions` (bars, coins): shares of each coin's capital; coins share the capital equally.
    `gross`, `paid`, `net`, `turnover` (bars,): shares of the whole capital. `by_coin` (bars, coins): net, each
    coin's of its own capital.
    """

    positions: np.ndarray
    gross: np.ndarray
    paid: np.ndarray
    turnover: np.ndarray
    by_coin: np.ndarray

    @property
    def net(self) -> np.ndarray:
        left: np.ndarray = self.gross - self.paid
        return left

    @property
    def exposure(self) -> np.ndarray:
        """How much of the capital is at work, long or short."""
        held: np.ndarray = np.abs(self.positions).mean(axis=1)
        return held


def run_strategy(
    wanted: np.ndarray, returns: np.ndarray, terms: Terms, beyond: np.ndarray | None = None
) -> StrategyReturns:
    """Hold what is wanted, within limits.

    `wanted` (bars, coins): decided at the close of each bar, with what is known then. `returns` (bars, coins):
    from that close to the next; where a bar is missing (nan) nothing is earned. The first position is bought
    from nothing; positions are kept at their share, and what price moves shift within it costs nothing.
    `beyond` (bars, coins): what trades that end within a bar earn more than its close says.
    """
    held = np.clip(np.nan_to_num(wanted), terms.low, terms.high)
    traded = np.abs(np.diff(held, axis=0, prepend=np.zeros((1, held.shape[1]))))
    earned = held * np.nan_to_num(returns) + (0.0 if beyond is None else beyond)
    by_coin = earned - traded * terms.cost
    return StrategyReturns(
        held, earned.mean(axis=1), traded.mean(axis=1) * terms.cost, traded.mean(axis=1), by_coin
    )


def equity(net: np.ndarray) -> np.ndarray:
    """What one unit of capital became after each bar, gains reinvested."""
    grown: np.ndarray = np.cumprod(1 + net)
    return grown


def drawdown(net: np.ndarray) -> np.ndarray:
    """How far below its highest point so far the capital stands, at most 0."""
    grown = np.concatenate([[1.0], equity(net)])
    below: np.ndarray = (grown / np.maximum.accumulate(grown) - 1)[1:]
    return below
