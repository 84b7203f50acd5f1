"""Trials of candidates as strategies on out-of-fold rows: the choice of a rule, and the luck of the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.markets.backtest import TradingTerms, run_strategy
from app.modeling.markets.overfitting import probability_of_overfitting
from app.modeling.markets.sharpe import sharpe_ratio
from app.modeling.markets.signals import MARGINS, TradeEnds, next_returns, target_positions


@dataclass(frozen=True)
class Trials:
    """Trials of strategies.

    `margin`: the best rule of the chosen candidate, and `track` its returns with it. `count`: candidates times
    rules. `spread`: the variance of their Sharpe ratios per bar. `overfitting`: see `overfitting.py`.
    """

    margin: float
    track: np.ndarray
    count: int
    spread: float
    overfitting: float | None


def evaluate_strategies(
    moves: Mapping[str, pd.DataFrame],
    prices: pd.DataFrame,
    choice: str,
    terms: TradingTerms,
    horizon: int,
    endings: TradeEnds | None = None,
) -> Trials:
    """Run every candidate with every rule on the training rows.

    `moves`: expected out-of-fold moves (times, coins) of each candidate; `endings`: of the same times as the
    prices.
    """
    # Without costs all margins are one rule, which must not count as several trials.
    margins = MARGINS if terms.round_trip > 0 else MARGINS[:1]
    returns = next_returns(prices)

    def net_returns(name: str, margin: float, times: pd.Index) -> np.ndarray:
        expected = moves[name].reindex(index=times, columns=prices.columns).to_numpy()
        ends = None if endings is None else endings.at(times)
        positions, excess = target_positions(expected, margin, terms.round_trip, horizon, ends)
        return run_strategy(positions, returns.reindex(times).to_numpy(), terms, excess).net

    # On the same bars: else candidates would differ by the times they were judged on.
    common = _common_times([table.dropna(how="all").index for table in moves.values()], prices.index[:0])
    keys = [(name, margin) for name in moves for margin in margins]
    all_returns = np.column_stack([net_returns(*key, common) for key in keys]) if keys else np.zeros((0, 0))
    own_times = moves[choice].dropna(how="all").index if choice in moves else prices.index[:0]
    tracks = {
        margin: net_returns(choice, margin, own_times) if len(own_times) else np.zeros(0) for margin in margins
    }
    best = max(margins, key=lambda margin: sharpe_ratio(tracks[margin]))
    spread = float(np.var([sharpe_ratio(net) for net in all_returns.T], ddof=1)) if len(keys) > 1 else 0.0
    return Trials(best, tracks[best], len(keys), spread, probability_of_overfitting(all_returns))


def _common_times(indexes: Sequence[pd.Index], default: pd.Index) -> pd.Index:
    """The bars that all candidates predicted; candidates without predictions are ignored."""
    judged = [times for times in indexes if len(times)]
    common = judged[0] if judged else default
    for times in judged[1:]:
        common = common.intersection(times)
    return common
