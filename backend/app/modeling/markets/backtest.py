"""Backtest of positions over bars: returns, costs, equity and drawdown."""

from dataclasses import dataclass

import numpy as np

BPS = 1e-4
"""One basis point."""


@dataclass(frozen=True)
class TradingTerms:
    """Costs in basis points of the traded value, limits of positions as shares of a coin's capital.

    `fee_bps` and `slippage_bps` are paid on each side: opening and closing a position costs both twice.
    """

    fee_bps: float = 0.0
    slippage_bps: float = 0.0
    low: float = -1.0
    high: float = 1.0

    @property
    def cost(self) -> float:
        """Cost of trading one unit of capital once."""
        return (self.fee_bps + self.slippage_bps) * BPS

    @property
    def round_trip(self) -> float:
        return 2 * self.cost


@dataclass(frozen=True)
class StrategyReturns:
    """Returns of a strategy. Row t has the position decided at the close of bar t and its return over bar t +
    1.

    `positions` (bars, coins): shares of each coin's capital; coins share the capital equally. `gross`, `costs`,
    `net`, `turnover` (bars,): shares of the total capital. `by_coin` (bars, coins): net return on each coin's
    own capital.
    """

    positions: np.ndarray
    gross: np.ndarray
    costs: np.ndarray
    turnover: np.ndarray
    by_coin: np.ndarray

    @property
    def net(self) -> np.ndarray:
        returns: np.ndarray = self.gross - self.costs
        return returns

    @property
    def exposure(self) -> np.ndarray:
        """Share of the capital that is invested, long or short (bars,)."""
        invested: np.ndarray = np.abs(self.positions).mean(axis=1)
        return invested


def run_strategy(
    targets: np.ndarray, returns: np.ndarray, terms: TradingTerms, excess: np.ndarray | None = None
) -> StrategyReturns:
    """Hold the target positions, within limits.

    `targets` (bars, coins): decided at the close of each bar. `returns` (bars, coins): from that close to the
    next; a missing bar (nan) earns nothing. The first position is bought from nothing; positions stay at their
    share, and rebalancing for price moves is free. `excess` (bars, coins): returns, in addition to the closes,
    of trades that end within a bar.
    """
    # Without a target nothing is held: the position before it is not kept, since no forecast supports it.
    positions = np.clip(np.nan_to_num(targets), terms.low, terms.high)
    traded = np.abs(np.diff(positions, axis=0, prepend=np.zeros((1, positions.shape[1]))))
    earned = positions * np.nan_to_num(returns) + (0.0 if excess is None else excess)
    by_coin = earned - traded * terms.cost
    return StrategyReturns(
        positions, earned.mean(axis=1), traded.mean(axis=1) * terms.cost, traded.mean(axis=1), by_coin
    )


def equity_curve(net: np.ndarray) -> np.ndarray:
    """Capital after each bar (bars,), from one unit, gains reinvested."""
    # Returns are relative ones, not logarithms, so that they multiply.
    capital: np.ndarray = np.cumprod(1 + net)
    return capital


def drawdown(net: np.ndarray) -> np.ndarray:
    """Relative distance of the capital from its highest value so far (bars,), at most 0."""
    # With the capital before the first bar, so that a loss on that bar is a drawdown too.
    capital = np.concatenate([[1.0], equity_curve(net)])
    losses: np.ndarray = (capital / np.maximum.accumulate(capital) - 1)[1:]
    return losses
