"""A model of prices as a strategy on its hold-out: all that is said of it, as facts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.modeling.labels.barriers import BarrierOutcomes, PriceRanges, find_range_columns, triple_barrier
from app.modeling.markets.backtest import StrategyReturns, Terms, drawdown, equity, run_strategy
from app.modeling.markets.regimes import trend_regimes, volatility_regimes
from app.modeling.markets.sharpe import bars_per_year, measured, sharpe_ratio
from app.modeling.markets.signals import Endings, by_time, expected_gain, expected_move, next_returns, wanted
from app.modeling.markets.significance import judge
from app.modeling.markets.strategies import BASELINES, positions_of
from app.modeling.markets.trial import Trials, evaluate_strategies
from app.modeling.problem.problem import Problem
from app.modeling.table.numeric import to_float

BARRIERS = ("take_profit", "stop_loss")
MAX_POINTS = 400
REGIME_BARS = 20
MIN_BARS = 30


@dataclass(frozen=True)
class Market:
    """Prices (times, coins) of the training rows and of the hold-out, and what the rows are called."""

    problem: Problem
    before: pd.DataFrame
    prices: pd.DataFrame
    within: Mapping[str, pd.DataFrame]
    """Opens, highs and lows of both, where there are all of them."""

    @classmethod
    def of(cls, train: pd.DataFrame, holdout: pd.DataFrame, problem: Problem) -> "Market":
        def tables(column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
            before, after = (
                by_time(to_float(rows[column]).to_numpy(), *_places(rows, problem)) for rows in (train, holdout)
            )
            return before.reindex(columns=after.columns), after

        named = find_range_columns(holdout, problem.target)
        within = {name: pd.concat(tables(column)) for column, name in named.items()}
        return cls(problem, *tables(problem.target), within)

    @property
    def horizon(self) -> int:
        return self.problem.horizon or 1

    def usual_moves(self) -> pd.Series:
        """The mean absolute move over the horizon in the training rows, of each coin."""
        moved = self.before.shift(-self.horizon) / self.before - 1
        return moved.abs().mean()

    def trades(self, prices: pd.DataFrame) -> tuple[pd.DataFrame, Endings] | None:
        """What a trade that is opened at each price earns, and how it ends; None without barriers."""
        if self.problem.barriers is None:
            return None
        width, found = np.ones(len(prices)), {}
        for name, each in prices.items():
            close = each.ffill().to_numpy()
            inside = {key: table[name].reindex(prices.index) for key, table in self.within.items()}
            ranges = PriceRanges.from_table(pd.DataFrame(inside), close) if inside else None
            found[name] = triple_barrier(close, width, self.horizon, *self.problem.barriers, ranges)

        def told(of: Callable[[BarrierOutcomes], np.ndarray]) -> pd.DataFrame:
            return pd.DataFrame({name: of(each) for name, each in found.items()}, index=prices.index)

        endings = Endings(told(lambda each: each.touched), told(lambda each: each.beyond))
        return told(lambda each: each.earned), endings

    def endings(self, prices: pd.DataFrame) -> Endings | None:
        made = self.trades(prices)
        return None if made is None else made[1]

    def moves(self, rows: pd.DataFrame, output: np.ndarray) -> pd.DataFrame:
        """What a model's output on rows says of the next bars, as (times, coins)."""
        times, coins = _places(rows, self.problem)

        def each(usual: pd.Series) -> np.ndarray:
            if coins is None:
                return np.full(len(rows), float(usual.iloc[0]))
            return coins.astype("str").map(usual).to_numpy(dtype=float)

        before = self.trades(self.before)
        if before is not None:
            gain, loss = before[0].where(before[0] > 0).mean(), before[0].where(before[0] <= 0).mean()
            expected = expected_gain(output, each(gain.fillna(0.0)), each(loss.fillna(0.0)), self.problem)
            return by_time(expected, times, coins)
        present = rows[self.problem.target].to_numpy(dtype=float)
        return by_time(expected_move(output, present, each(self.usual_moves()), self.problem), times, coins)


def _places(rows: pd.DataFrame, problem: Problem) -> tuple[pd.Series, pd.Series | None]:
    coins = rows[problem.group_column] if problem.group_column else None
    return rows[problem.time_column], coins


def backtest_report(
    train: pd.DataFrame,
    holdout: pd.DataFrame,
    problem: Problem,
    terms: Terms,
    said: np.ndarray,
    tried: Mapping[str, tuple[np.ndarray, np.ndarray]],
    chosen: str,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """`said`: the chosen model's output on the hold-out's rows. `tried`: of every candidate, the positions of
    the training rows that it judged out of fold, and its output there. Answers facts for JSON, and the hold-out
    bar by bar (`_ledger`).
    """
    market = Market.of(train, holdout, problem)
    moves = {name: market.moves(train.iloc[rows], output) for name, (rows, output) in tried.items()}
    trials = evaluate_strategies(
        moves, market.before, chosen, terms, market.horizon, market.endings(market.before)
    )
    returns = next_returns(market.prices).to_numpy()[:-1]
    expected = market.moves(holdout, said).reindex_like(market.prices).to_numpy()
    endings = market.endings(market.prices)
    held, beyond = wanted(expected, trials.margin, terms.round_trip, market.horizon, endings)
    book = run_strategy(held[:-1], returns, terms, beyond[:-1])
    prices = market.prices.iloc[:-1]
    span = (market.prices.index[-1] - market.prices.index[0]).total_seconds()
    per_year = bars_per_year(span, len(prices))
    edge = judge(book, returns, trials)
    named = _books(market, returns, terms)
    rivals = _rivals(book, named) if edge.found else ""
    facts = {
        "model": chosen,
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
        "edge": edge.found,
        "verdict": f"{edge.said}{rivals}",
        "strategy": measured(book, per_year),
        "gross_return": float(equity(book.gross)[-1] - 1),
        "break_even_bps": _break_even(book),
        "baselines": [
            {"name": name, "text": BASELINES[name], **measured(each, per_year)} for name, each in named.items()
        ],
        "trials": trials.count,
        "trial_bars": len(trials.track),
        "track_sharpe": sharpe_ratio(trials.track) * float(np.sqrt(per_year)),
        "luck_sharpe": edge.luck * float(np.sqrt(per_year)),
        "deflated_sharpe": edge.deflated,
        "probabilistic_sharpe": edge.confirmed,
        "timing": edge.timing,
        "overfitting": trials.overfitting,
        "by_regime": list(_by_regime(market, book, per_year)),
        "by_coin": list(_by_coin(prices, book, per_year)),
        "curve": _curve(market, book, named["buy and hold"]),
        "notes": _notes(book, trials),
    }
    return facts, _ledger(market, book)


def _books(market: Market, returns: np.ndarray, terms: Terms) -> dict[str, StrategyReturns]:
    return {
        name: run_strategy(
            positions_of(name, market.prices, market.before, market.horizon)[:-1], returns, terms
        )
        for name in BASELINES
    }


def _rivals(book: StrategyReturns, named: Mapping[str, StrategyReturns]) -> str:
    """The baselines that do as well, as a sentence to go on with."""
    own = sharpe_ratio(book.net)
    alike = [name for name, other in named.items() if sharpe_ratio(other.net) >= own]
    return f" But {' and '.join(alike)} does as well without a model." if alike else ""


def _break_even(book: StrategyReturns) -> float | None:
    """The cost of trading at which nothing is left, in basis points; None where nothing is traded."""
    traded = float(book.turnover.sum())
    return float(book.gross.sum()) / traded * 1e4 if traded > 0 else None


def _by_regime(market: Market, book: StrategyReturns, per_year: float) -> Iterator[dict[str, Any]]:
    window = max(REGIME_BARS, 2 * market.horizon)
    prices = market.prices.iloc[:-1]
    for kind, of in (("volatility", volatility_regimes), ("trend", trend_regimes)):
        found = of(prices, market.before, window)
        for name in dict.fromkeys(sorted(found)):
            yield {"kind": kind, "name": name, **_part(book.net[found == name], per_year)}


def _by_coin(prices: pd.DataFrame, book: StrategyReturns, per_year: float) -> Iterator[dict[str, Any]]:
    if len(prices.columns) < 2:
        return
    for place, name in enumerate(prices.columns):
        yield {"coin": str(name), **_part(book.by_coin[:, place], per_year)}


def _part(net: np.ndarray, per_year: float) -> dict[str, Any]:
    return {
        "bars": len(net),
        "total_return": float(np.prod(1 + net) - 1),
        "sharpe": sharpe_ratio(net) * float(np.sqrt(per_year)) if len(net) >= MIN_BARS else None,
        "max_drawdown": float(abs(drawdown(net).min())) if len(net) else 0.0,
    }


def _curve(market: Market, book: StrategyReturns, hold: StrategyReturns) -> dict[str, Any]:
    """At most `MAX_POINTS` moments, evenly: what is drawn. Several coins are drawn as their mean, from 1."""
    prices = market.prices.iloc[:-1]
    kept = np.unique(np.linspace(0, len(prices) - 1, MAX_POINTS).astype(int))
    level = prices if len(prices.columns) == 1 else prices / prices.bfill().iloc[0]
    return {
        "times": [moment.isoformat() for moment in prices.index[kept]],
        "price": level.ffill().mean(axis=1).to_numpy()[kept].tolist(),
        "position": book.positions.mean(axis=1)[kept].tolist(),
        "equity": equity(book.net)[kept].tolist(),
        "hold": equity(hold.net)[kept].tolist(),
        "drawdown": drawdown(book.net)[kept].tolist(),
        "hold_drawdown": drawdown(hold.net)[kept].tolist(),
    }


def _ledger(market: Market, book: StrategyReturns) -> pd.DataFrame:
    """A row a bar: `time`, each coin's `price` and `position` from its close on, then `turnover`, and what the
    next bar makes of it as shares of the capital: `gross`, `paid`, `net`; `equity` of one unit, `drawdown`."""
    prices = market.prices.iloc[:-1]
    rows: dict[str, Any] = {"time": prices.index}
    for place, name in enumerate(prices.columns):
        of = f" of {name}" if len(prices.columns) > 1 else ""
        rows |= {f"price{of}": prices[name].to_numpy(), f"position{of}": book.positions[:, place]}
    rows |= {"turnover": book.turnover, "gross": book.gross, "paid": book.paid, "net": book.net}
    return pd.DataFrame(rows | {"equity": equity(book.net), "drawdown": drawdown(book.net)})


def _notes(book: StrategyReturns, trials: Trials) -> list[str]:
    notes = []
    if trials.overfitting is not None and trials.overfitting > 0.5:
        notes.append(
            "The best strategy in one half of the training time was mostly a poor one in the other half."
        )
    if not len(trials.track):
        notes.append("No rows out of fold were left to choose a rule by.")
    if len(book.net) < 10 * MIN_BARS:
        notes.append("The hold-out has few bars, so every figure of the backtest is rough.")
    return notes
