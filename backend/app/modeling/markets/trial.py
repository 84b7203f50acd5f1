"""Candidates as strategies on rows that did not teach them: which rule serves, and how lucky the best was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.markets.backtest import Terms, run_strategy
from app.modeling.markets.overfitting import probability_of_overfitting
from app.modeling.markets.sharpe import sharpe_ratio
from app.modeling.markets.signals import MARGINS, Endings, next_returns, wanted


@dataclass(frozen=True)
class Trials:
    """`margin`: the rule that served the chosen candidate best, and `track` its returns with it. `count`:
    candidates times rules, all that was tried. `spread`: the variance of their Sharpe ratios per bar.
    `overfitting`: see `overfitting.py`."""

    margin: float
    track: np.ndarray
    count: int
    spread: float
    overfitting: float | None


def evaluate_strategies(
    moves: Mapping[str, pd.DataFrame],
    prices: pd.DataFrame,
    chosen: str,
    terms: Terms,
    horizon: int,
    endings: Endings | None = None,
) -> Trials:
    """`moves`: expected moves (times, coins) of each candidate out of fold; `endings`: of the same times as the
    prices."""
    margins = MARGINS if terms.round_trip > 0 else MARGINS[:1]
    returns = next_returns(prices)

    def earned(name: str, margin: float, times: pd.Index) -> np.ndarray:
        known = moves[name].reindex(index=times, columns=prices.columns).to_numpy()
        ends = None if endings is None else endings.at(times)
        held, beyond = wanted(known, margin, terms.round_trip, horizon, ends)
        return run_strategy(held, returns.reindex(times).to_numpy(), terms, beyond).net

    common = _common([table.dropna(how="all").index for table in moves.values()], prices.index[:0])
    keys = [(name, margin) for name in moves for margin in margins]
    every = np.column_stack([earned(*key, common) for key in keys]) if keys else np.zeros((0, 0))
    own = moves[chosen].dropna(how="all").index if chosen in moves else prices.index[:0]
    tracks = {margin: earned(chosen, margin, own) if len(own) else np.zeros(0) for margin in margins}
    best = max(margins, key=lambda margin: sharpe_ratio(tracks[margin]))
    spread = float(np.var([sharpe_ratio(net) for net in every.T], ddof=1)) if len(keys) > 1 else 0.0
    return Trials(best, tracks[best], len(keys), spread, probability_of_overfitting(every))


def _common(each: Sequence[pd.Index], none: pd.Index) -> pd.Index:
    """The bars that all candidates judged; those that judged none do not count."""
    judged = [times for times in each if len(times)]
    common = judged[0] if judged else none
    for times in judged[1:]:
        common = common.intersection(times)
    return common
