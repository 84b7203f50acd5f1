"""Is there an edge after costs? One answer, and the sentence that says why."""

from dataclasses import dataclass

import numpy as np

from app.modeling.markets.backtest import StrategyReturns
from app.modeling.markets.sharpe import (
    deflated_sharpe,
    expected_highest,
    moments,
    probabilistic_sharpe,
    standard_error,
)
from app.modeling.markets.trial import Trials

SURE = 0.95
MIN_HELD = 30
"""Bars with a position from which on ratios of returns mean anything."""
NO_EDGE = "No edge after costs"
EDGE = "An edge after costs"


@dataclass(frozen=True)
class Edge:
    """Three probabilities, of which each must be high, over enough bars with a position.

    `confirmed`: that the true Sharpe ratio is above 0, by rows that nobody had seen. `timing`: that the
    strategy earns more there than its own average position, held throughout. `deflated`: that the true Sharpe
    ratio is above `luck` (per bar), what the best of as many worthless strategies shows, by all rows that did
    not teach: those it was chosen by and those that nobody had seen.
    """

    found: bool
    confirmed: float
    timing: float
    deflated: float
    luck: float
    said: str


def judge(book: StrategyReturns, returns: np.ndarray, trials: Trials) -> Edge:
    """`book`: the chosen strategy on rows that nobody had seen; `returns` (bars, coins) of the market there."""
    passive = (np.nan_to_num(returns) * book.positions.mean(axis=0)).mean(axis=1)
    confirmed = probabilistic_sharpe(moments(book.net))
    timing = probabilistic_sharpe(moments(book.net - passive))
    whole = moments(np.concatenate([trials.track, book.net]))
    # Chance alone makes worthless trials differ by their standard error; more comes from true differences.
    variance = min(trials.spread, standard_error(whole) ** 2)
    deflated = deflated_sharpe(whole, trials.count, variance)
    held = np.count_nonzero(book.exposure)
    found = bool(held >= MIN_HELD and min(confirmed, timing, deflated) >= SURE)
    said = _said(book, confirmed, timing, deflated, trials.count)
    return Edge(found, confirmed, timing, deflated, expected_highest(trials.count, variance), said)


def _said(book: StrategyReturns, confirmed: float, timing: float, deflated: float, count: int) -> str:
    net, gross = float(book.net.sum()), float(book.gross.sum())
    if not book.exposure.any():
        return f"{NO_EDGE}: the model never expects a move that pays for the trade."
    if net <= 0 < gross:
        return f"{NO_EDGE}: what is earned before costs does not pay for the trades."
    if net <= 0:
        return f"{NO_EDGE}: the strategy loses on rows that it had never seen, even before costs."
    held = np.count_nonzero(book.exposure)
    if held < MIN_HELD:
        return f"{NO_EDGE}: a position is held on {held} bars of the hold-out, too few to tell gain from luck."
    if confirmed < SURE:
        return f"{NO_EDGE}: the gain on rows that nobody had seen is within chance ({_chance(confirmed)})."
    if deflated < SURE:
        return (
            f"{NO_EDGE}: over all rows that did not teach, the gain is within what the best of {count}"
            f" worthless strategies shows by luck ({_chance(deflated)})."
        )
    if timing < SURE:
        return f"{NO_EDGE}: holding the same position throughout earns as much, so the forecasts add nothing."
    return f"{EDGE}: it holds on rows that nobody had seen, and beyond the luck of {count} strategies tried."


def _chance(probability: float) -> str:
    return f"{probability:.0%} sure where {SURE:.0%} is asked"
