"""The backtest report: a model of prices as a strategy on its hold-out, as facts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.labels.barriers import BarrierOutcomes, PriceRanges, find_range_columns, triple_barrier
from app.modeling.markets.backtest import StrategyReturns, TradingTerms, drawdown, equity_curve, run_strategy
from app.modeling.markets.regimes import label_trend_regimes, label_volatility_regimes
from app.modeling.markets.sharpe import bars_per_year, performance_figures, sharpe_ratio
from app.modeling.markets.signals import (
    TradeEnds,
    expected_gain,
    expected_move,
    next_returns,
    pivot_by_time,
    target_positions,
)
from app.modeling.markets.significance import assess_edge
from app.modeling.markets.strategies import BASELINES, baseline_positions
from app.modeling.markets.strategy_trials import Trials, evaluate_strategies
from app.modeling.problem.problem import Problem
from app.modeling.table.numeric import to_float

BARRIERS = ("take_profit", "stop_loss")
MAX_POINTS = 400
"""Points of a drawn curve: about one per two pixels."""
REGIME_BARS = 20
"""Bars over which regimes are measured, at least."""
MIN_BARS = 30
"""Bars below which a Sharpe ratio is meaningless."""


@dataclass(frozen=True)
class Market:
    """Prices (times, coins) of the training rows (`before`) and of the hold-out (`prices`)."""

    problem: Problem
    before: pd.DataFrame
    prices: pd.DataFrame
    within: Mapping[str, pd.DataFrame]
    """Opens, highs and lows of both, if the table has all of them."""

    @classmethod
    def from_frames(cls, train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> "Market":
        def tables(column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
            before, after = (
                pivot_by_time(to_float(rows[column]).to_numpy(), *_row_keys(rows, problem))
                for rows in (train, holdout)
            )
            # Coins of the hold-out decide: one that was delisted before it cannot be traded there.
            return before.reindex(columns=after.columns), after

        range_columns = find_range_columns(holdout, problem.target)
        within = {name: pd.concat(tables(column)) for column, name in range_columns.items()}
        return cls(problem, *tables(problem.target), within)

    @property
    def horizon(self) -> int:
        return self.problem.horizon or 1

    def usual_moves(self) -> pd.Series:
        """Mean absolute move over the horizon in the training rows, per coin."""
        returns = self.before.shift(-self.horizon) / self.before - 1
        return returns.abs().mean()

    def trades(self, prices: pd.DataFrame) -> tuple[pd.DataFrame, TradeEnds] | None:
        """Simulate a trade opened at each price: its return, and its end; None without barriers."""
        if self.problem.barriers is None:
            return None
        width, outcomes = np.ones(len(prices)), {}
        for name, column in prices.items():
            # A missing bar does not end a trade: the last known price stands until the next.
            close = column.ffill().to_numpy()
            inside = {key: wide[name].reindex(prices.index) for key, wide in self.within.items()}
            ranges = PriceRanges.from_table(pd.DataFrame(inside), close) if inside else None
            outcomes[name] = triple_barrier(close, width, self.horizon, *self.problem.barriers, ranges)

        def table(field: Callable[[BarrierOutcomes], np.ndarray]) -> pd.DataFrame:
            return pd.DataFrame({name: field(coin) for name, coin in outcomes.items()}, index=prices.index)

        endings = TradeEnds(table(lambda coin: coin.touched), table(lambda coin: coin.excess))
        return table(lambda coin: coin.earned), endings

    def endings(self, prices: pd.DataFrame) -> TradeEnds | None:
        simulated = self.trades(prices)
        return None if simulated is None else simulated[1]

    def expected_moves(self, rows: pd.DataFrame, output: np.ndarray) -> pd.DataFrame:
        """Convert a model's output on rows to expected moves, as (times, coins)."""
        times, coins = _row_keys(rows, self.problem)

        def by_row(usual: pd.Series) -> np.ndarray:
            if coins is None:
                return np.full(len(rows), float(usual.iloc[0]))
            return coins.astype("str").map(usual).to_numpy(dtype=float)

        before = self.trades(self.before)
        if before is not None:
            # From the training rows: means over the hold-out would know how its trades end.
            gain, loss = before[0].where(before[0] > 0).mean(), before[0].where(before[0] <= 0).mean()
            expected = expected_gain(output, by_row(gain.fillna(0.0)), by_row(loss.fillna(0.0)), self.problem)
            return pivot_by_time(expected, times, coins)
        present = rows[self.problem.target].to_numpy(dtype=float)
        return pivot_by_time(
            expected_move(output, present, by_row(self.usual_moves()), self.problem), times, coins
        )


def _row_keys(rows: pd.DataFrame, problem: Problem) -> tuple[pd.Series, pd.Series | None]:
    coins = rows[problem.group_column] if problem.group_column else None
    return rows[problem.time_column], coins


def backtest_report(
    train: pd.DataFrame,
    holdout: pd.DataFrame,
    problem: Problem,
    terms: TradingTerms,
    predictions: np.ndarray,
    oof: Mapping[str, tuple[np.ndarray, np.ndarray]],
    choice: str,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Trade the chosen model on the hold-out; return facts for JSON, and the hold-out bar by bar (`_ledger`).

    `predictions`: the chosen model's output on the hold-out's rows. `oof`: for each candidate, the positions of
    the training rows that it predicted out of fold, and its output there.
    """
    market = Market.from_frames(train, holdout, problem)
    moves = {name: market.expected_moves(train.iloc[rows], output) for name, (rows, output) in oof.items()}
    trials = evaluate_strategies(
        moves, market.before, choice, terms, market.horizon, market.endings(market.before)
    )
    returns = next_returns(market.prices).to_numpy()[:-1]
    expected = market.expected_moves(holdout, predictions).reindex_like(market.prices).to_numpy()
    endings = market.endings(market.prices)
    positions, excess = target_positions(expected, trials.margin, terms.round_trip, market.horizon, endings)
    # A position taken at the last close has no bar left to earn on.
    strategy = run_strategy(positions[:-1], returns, terms, excess[:-1])
    prices = market.prices.iloc[:-1]
    span = (market.prices.index[-1] - market.prices.index[0]).total_seconds()
    per_year = bars_per_year(span, len(prices))
    edge = assess_edge(strategy, returns, trials)
    baselines = _baseline_returns(market, returns, terms)
    rivals = _list_rivals(strategy, baselines) if edge.significant else ""
    facts = {
        "model": choice,
        "coins": [str(name) for name in prices.columns if name],
        "start": prices.index[0].isoformat(),
        "end": market.prices.index[-1].isoformat(),
        "bars": len(prices),
        "bars_per_year": per_year,
        "horizon": market.horizon,
        "barriers": None if problem.barriers is None else dict(zip(BARRIERS, problem.barriers, strict=True)),
        "within_bars": bool(problem.barriers and market.within),
        "terms": {
            "fee_bps": terms.fee_bps,
            "slippage_bps": terms.slippage_bps,
            "low": terms.low,
            "high": terms.high,
        },
        "margin": trials.margin,
        "edge": edge.significant,
        "verdict": f"{edge.sentence}{rivals}",
        "strategy": performance_figures(strategy, per_year),
        "gross_return": float(equity_curve(strategy.gross)[-1] - 1),
        "break_even_bps": _break_even(strategy),
        "baselines": [
            {"name": name, "text": BASELINES[name], **performance_figures(baseline, per_year)}
            for name, baseline in baselines.items()
        ],
        "trials": trials.count,
        "trial_bars": len(trials.track),
        "track_sharpe": sharpe_ratio(trials.track) * float(np.sqrt(per_year)),
        "luck_sharpe": edge.luck * float(np.sqrt(per_year)),
        "deflated_sharpe": edge.deflated,
        "probabilistic_sharpe": edge.confirmed,
        "timing": edge.timing,
        "overfitting": trials.overfitting,
        "by_regime": list(_by_regime(market, strategy, per_year)),
        "by_coin": list(_by_coin(prices, strategy, per_year)),
        "curve": _curve(market, strategy, baselines["buy and hold"]),
        "notes": _notes(strategy, trials),
    }
    return facts, _ledger(market, strategy)


def _baseline_returns(market: Market, returns: np.ndarray, terms: TradingTerms) -> dict[str, StrategyReturns]:
    return {
        name: run_strategy(
            baseline_positions(name, market.prices, market.before, market.horizon)[:-1], returns, terms
        )
        for name in BASELINES
    }


def _list_rivals(strategy: StrategyReturns, baselines: Mapping[str, StrategyReturns]) -> str:
    """The baselines that perform as well, as a sentence to append."""
    own = sharpe_ratio(strategy.net)
    equal = [name for name, other in baselines.items() if sharpe_ratio(other.net) >= own]
    return f" But {' and '.join(equal)} does as well without a model." if equal else ""


def _break_even(strategy: StrategyReturns) -> float | None:
    """Cost of trading at which the gain is zero, in basis points; None without trades."""
    traded = float(strategy.turnover.sum())
    return float(strategy.gross.sum()) / traded * 1e4 if traded > 0 else None


def _by_regime(market: Market, strategy: StrategyReturns, per_year: float) -> Iterator[dict[str, Any]]:
    # At least twice the horizon, so that a regime is longer than a trade.
    window = max(REGIME_BARS, 2 * market.horizon)
    prices = market.prices.iloc[:-1]
    for kind, label_bars in (("volatility", label_volatility_regimes), ("trend", label_trend_regimes)):
        regimes = label_bars(prices, market.before, window)
        for name in dict.fromkeys(sorted(regimes)):
            yield {"kind": kind, "name": name, **_subset_figures(strategy.net[regimes == name], per_year)}


def _by_coin(prices: pd.DataFrame, strategy: StrategyReturns, per_year: float) -> Iterator[dict[str, Any]]:
    if len(prices.columns) < 2:
        return
    for coin, name in enumerate(prices.columns):
        yield {"coin": str(name), **_subset_figures(strategy.by_coin[:, coin], per_year)}


def _subset_figures(net: np.ndarray, per_year: float) -> dict[str, Any]:
    return {
        "bars": len(net),
        "total_return": float(np.prod(1 + net) - 1),
        # The sum of independent returns grows with time, its deviation with the root of time.
        "sharpe": sharpe_ratio(net) * float(np.sqrt(per_year)) if len(net) >= MIN_BARS else None,
        "max_drawdown": float(abs(drawdown(net).min())) if len(net) else 0.0,
    }


def _curve(market: Market, strategy: StrategyReturns, hold: StrategyReturns) -> dict[str, Any]:
    """The curves to draw, at `MAX_POINTS` evenly spaced times at most; several coins are drawn as their
    mean, from 1."""
    prices = market.prices.iloc[:-1]
    points = np.unique(np.linspace(0, len(prices) - 1, MAX_POINTS).astype(int))
    # Coins that began later start at 1 too.
    level = prices if len(prices.columns) == 1 else prices / prices.bfill().iloc[0]
    return {
        "times": [moment.isoformat() for moment in prices.index[points]],
        "price": level.ffill().mean(axis=1).to_numpy()[points].tolist(),
        "position": strategy.positions.mean(axis=1)[points].tolist(),
        "equity": equity_curve(strategy.net)[points].tolist(),
        "hold": equity_curve(hold.net)[points].tolist(),
        "drawdown": drawdown(strategy.net)[points].tolist(),
        "hold_drawdown": drawdown(hold.net)[points].tolist(),
    }


def _ledger(market: Market, strategy: StrategyReturns) -> pd.DataFrame:
    """The hold-out with a row per bar.

    `time`, each coin's `price` and `position` from its close on, `turnover`, and the results over the next bar
    as shares of the capital: `gross`, `paid` (costs), `net`; `equity` of one unit of capital, and `drawdown`.
    """
    prices = market.prices.iloc[:-1]
    rows: dict[str, Any] = {"time": prices.index}
    for coin, name in enumerate(prices.columns):
        suffix = f" of {name}" if len(prices.columns) > 1 else ""
        rows |= {f"price{suffix}": prices[name].to_numpy(), f"position{suffix}": strategy.positions[:, coin]}
    rows |= {
        "turnover": strategy.turnover,
        "gross": strategy.gross,
        "paid": strategy.costs,
        "net": strategy.net,
    }
    return pd.DataFrame(rows | {"equity": equity_curve(strategy.net), "drawdown": drawdown(strategy.net)})


def _notes(strategy: StrategyReturns, trials: Trials) -> list[str]:
    notes = []
    if trials.overfitting is not None and trials.overfitting > 0.5:
        notes.append(
            "The best strategy in one half of the training time was mostly below average in the other half."
        )
    if not len(trials.track):
        notes.append("There were no out-of-fold rows to choose a rule by.")
    if len(strategy.net) < 10 * MIN_BARS:
        notes.append("The hold-out has few bars, so every figure of the backtest is rough.")
    return notes
