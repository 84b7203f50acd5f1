"""The test for an edge after costs, with the sentence that explains its result."""

from dataclasses import dataclass

import numpy as np

from app.modeling.markets.backtest import StrategyReturns
from app.modeling.markets.sharpe import (
    compute_moments,
    deflated_sharpe,
    expected_highest,
    probabilistic_sharpe,
    standard_error,
)
from app.modeling.markets.strategy_trials import Trials

MIN_PROBABILITY = 0.95
"""The usual level of significance, one-sided."""
MIN_POSITION_BARS = 30
"""Bars with a position below which ratios of returns are meaningless."""
NO_EDGE = "No edge after costs"
EDGE = "An edge after costs"


@dataclass(frozen=True)
class Edge:
    """Three probabilities, of which each must be high, over enough bars with a position.

    `confirmed`: that the true Sharpe ratio is above 0, by hold-out rows. `timing`: that the strategy earns more
    there than its own average position, held throughout. `deflated`: that the true Sharpe ratio is above `luck`
    (per bar), the expected best of as many worthless strategies, by all out-of-sample rows: those used to
    choose it and the hold-out.
    """

    significant: bool
    confirmed: float
    timing: float
    deflated: float
    luck: float
    sentence: str


def assess_edge(strategy: StrategyReturns, returns: np.ndarray, trials: Trials) -> Edge:
    """Test the chosen strategy on hold-out rows for an edge; `returns` (bars, coins) of the market there."""
    passive = (np.nan_to_num(returns) * strategy.positions.mean(axis=0)).mean(axis=1)
    confirmed = probabilistic_sharpe(compute_moments(strategy.net))
    # A market that rises pays anybody who is long; only what exceeds the own average position is skill.
    timing = probabilistic_sharpe(compute_moments(strategy.net - passive))
    combined = compute_moments(np.concatenate([trials.track, strategy.net]))
    # Worthless trials differ by their standard error; a larger variance comes from true differences.
    variance = min(trials.spread, standard_error(combined) ** 2)
    deflated = deflated_sharpe(combined, trials.count, variance)
    position_bars = np.count_nonzero(strategy.exposure)
    significant = bool(
        position_bars >= MIN_POSITION_BARS and min(confirmed, timing, deflated) >= MIN_PROBABILITY
    )
    sentence = _explain(strategy, confirmed, timing, deflated, trials.count)
    return Edge(significant, confirmed, timing, deflated, expected_highest(trials.count, variance), sentence)


def _explain(strategy: StrategyReturns, confirmed: float, timing: float, deflated: float, count: int) -> str:
    net, gross = float(strategy.net.sum()), float(strategy.gross.sum())
    # The plainest reason first: later ones presuppose that the earlier do not hold.
    if not strategy.exposure.any():
        return f"{NO_EDGE}: the model never expects a move that exceeds the cost of the trade."
    if net <= 0 < gross:
        return f"{NO_EDGE}: the gain before costs does not cover the costs of the trades."
    if net <= 0:
        return f"{NO_EDGE}: the strategy loses on the hold-out, even before costs."
    position_bars = np.count_nonzero(strategy.exposure)
    if position_bars < MIN_POSITION_BARS:
        return (
            f"{NO_EDGE}: a position is held on {position_bars} bars of the hold-out, too few to"
            " distinguish gain from luck."
        )
    if confirmed < MIN_PROBABILITY:
        return f"{NO_EDGE}: the gain on the hold-out is within chance ({_chance(confirmed)})."
    if deflated < MIN_PROBABILITY:
        return (
            f"{NO_EDGE}: over all out-of-sample rows, the gain is within what the best of {count}"
            f" worthless strategies shows by luck ({_chance(deflated)})."
        )
    if timing < MIN_PROBABILITY:
        return f"{NO_EDGE}: holding the same position throughout earns as much, so the forecasts add nothing."
    return f"{EDGE}: it holds on the hold-out, and exceeds the luck of {count} strategies tried."


def _chance(probability: float) -> str:
    return f"probability {probability:.0%}, required {MIN_PROBABILITY:.0%}"
