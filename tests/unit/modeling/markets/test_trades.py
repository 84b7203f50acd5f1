"""Trades that end at a profit, a loss, or the end of patience: labels, weights and the backtest."""

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.labels.labels import label_times, label_weights, make_labels, simulate_trades
from app.modeling.markets.backtest import TradingTerms, run_strategy
from app.modeling.markets.backtest_report import Market, backtest_report
from app.modeling.markets.signals import next_returns, target_positions, trade_positions
from app.modeling.markets.significance import assess_edge
from app.modeling.markets.strategy_trials import Trials
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.splits.split import make_folds, split_holdout

HORIZON = 6


def bars(rows: int = 900, strength: float = 0.0) -> pd.DataFrame:
    """Hourly closes; `flow` foretells the next move with this correlation."""
    chance = np.random.default_rng(7)
    flow, noise = chance.normal(size=rows), chance.normal(size=rows)
    moved = 0.004 * (strength * np.roll(flow, 1) + np.sqrt(1 - strength**2) * noise)
    close = 100 * np.exp(np.cumsum(moved))
    return pd.DataFrame(
        {"ts": pd.date_range("2025-01-01", periods=rows, freq="h"), "close": close, "flow": flow}
    )


def asked(table: pd.DataFrame) -> Problem:
    barriers = {"take_profit": 0.008, "stop_loss": 0.004}
    wish = {"target": "close", "time_column": "ts", "horizon": HORIZON, "outlook": "direction"}
    return resolve_problem(table, wish | {"barriers": barriers, "kind": "classification"})


def by_hand(close: np.ndarray, row: int) -> tuple[float, int]:
    for step in range(1, HORIZON + 1):
        moved = close[row + step] / close[row] - 1
        if moved >= 0.008 or moved <= -0.004:
            return moved, step
    return close[row + HORIZON] / close[row] - 1, HORIZON


def test_a_label_says_whether_the_trade_ends_with_a_gain_and_when():
    table = bars()
    problem = asked(table)
    close = table["close"].to_numpy()
    told = [by_hand(close, row) for row in range(len(table) - HORIZON)]
    labels, ends = make_labels(table, problem), label_times(table, problem)
    np.testing.assert_array_equal(labels[:-HORIZON], [float(earned > 0) for earned, _ in told])
    assert labels[-HORIZON:].isna().all()
    assert ends[-HORIZON:].isna().all()
    hours = ((ends - table["ts"]) / pd.Timedelta(hours=1))[:-HORIZON]
    assert hours.tolist() == [lasts for _, lasts in told]
    assert Problem.from_json(problem.to_json()) == problem


def test_no_fold_trains_on_trades_open_when_its_test_rows_begin():
    table = bars()
    problem = asked(table)
    ends = label_times(table, problem).to_numpy()
    for fold in make_folds(table, problem, FoldPlan(SplitKind.TIME, 4)):
        assert (ends[fold.train] < table["ts"].to_numpy()[fold.test].min()).all()


def test_trades_that_few_others_overlap_count_more():
    table = bars()
    problem = asked(table)
    weights, lasts = label_weights(table, problem), simulate_trades(table, problem)["lasts"]
    assert weights is not None
    assert weights.mean() == pytest.approx(1)
    assert weights[lasts == 1].mean() > 1.2 * weights[lasts == HORIZON].mean()
    alike = resolve_problem(table, {"target": "close", "time_column": "ts", "horizon": HORIZON})
    assert label_weights(table, alike) is None, "labels of one length overlap alike"


def test_each_tranche_is_held_until_its_trade_ends():
    opened = np.array([[1.0], [0.0], [1.0], [0.0], [0.0]])
    lasts = np.array([[2.0], [1.0], [np.nan], [1.0], [1.0]])
    assert trade_positions(opened, lasts, 4)[:, 0].tolist() == [0.25, 0.25, 0.25, 0.25, 0.25]
    assert trade_positions(opened, np.ones((5, 1)), 4)[:, 0].tolist() == [0.25, 0.0, 0.25, 0.0, 0.0]


def test_a_predicted_gain_is_held_long_until_a_barrier():
    table = bars(strength=0.9)
    problem = asked(table)
    locked = split_holdout(table, problem, 0)
    said = [
        np.column_stack([1 - up, up])
        for rows in (locked.train, locked.holdout)
        for up in [np.clip(0.5 + 0.4 * np.sign(rows["flow"].to_numpy()), 0, 1)]
    ]
    tried = {"knowing": (np.arange(len(locked.train)), said[0])}
    facts = backtest_report(
        locked.train, locked.holdout, problem, TradingTerms(fee_bps=1, low=0.0), said[1], tried, "knowing"
    )[0]
    assert facts["edge"], facts["verdict"]
    assert facts["barriers"] == {"take_profit": 0.008, "stop_loss": 0.004}
    assert min(facts["curve"]["position"]) >= 0


def test_barriers_are_of_a_direction_only():
    with pytest.raises(InvalidInput, match="direction"):
        resolve_problem(
            bars(), {"target": "close", "horizon": 3, "time_column": "ts", "barriers": [0.01, 0.01]}
        )


def ranged(rows: int = 400) -> pd.DataFrame:
    """Bars that open off the last close and reach beyond open and close."""
    chance, table = np.random.default_rng(3), bars(rows)
    close = table["close"].to_numpy()
    opened = np.concatenate([close[:1], close[:-1]]) * (1 + chance.normal(0, 0.002, rows))
    high = np.maximum(opened, close) * (1 + np.abs(chance.normal(0, 0.002, rows)))
    low = np.minimum(opened, close) * (1 - np.abs(chance.normal(0, 0.002, rows)))
    return table.assign(open=opened, High=high, low=low)


def by_hand_within(table: pd.DataFrame, row: int) -> tuple[float, int]:
    """A stop that opens beyond is filled at the open, and where a bar reaches both the stop came first."""
    began = table["close"][row]
    take, stop = began * 1.008, began * 0.996
    for step in range(1, HORIZON + 1):
        bar = table.iloc[row + step]
        for price in (bar["open"], stop if bar["low"] <= stop else take if bar["High"] >= take else None):
            if price is not None and (price >= take or price <= stop):
                return price / began - 1, step
    return table["close"][row + HORIZON] / began - 1, HORIZON


def test_a_trade_ends_within_the_bar_that_reaches_its_barrier():
    table = ranged()
    problem = asked(table)
    told = [by_hand_within(table, row) for row in range(len(table) - HORIZON)]
    found = simulate_trades(table, problem)
    np.testing.assert_allclose(found["earned"][:-HORIZON], [earned for earned, _ in told], rtol=1e-9)
    np.testing.assert_array_equal(found["lasts"][:-HORIZON], [lasts for _, lasts in told])
    assert min(earned for earned, _ in told) < -0.004, "some bar opens beyond the stop"


def test_returns_within_bars_are_counted_by_the_backtest():
    table = ranged()
    problem = asked(table)
    train, holdout = table[:300], table[300:].reset_index(drop=True)
    market = Market.from_frames(train, holdout, problem)
    endings = market.endings(market.prices)
    assert endings is not None
    row, told = 20, [by_hand_within(holdout, row) for row in range(60)]
    moves = np.full((len(holdout), 1), -1.0)
    moves[row] = 1.0
    held, beyond = target_positions(moves, 0.0, 0.0, HORIZON, endings)
    book = run_strategy(
        held[:-1], next_returns(market.prices).to_numpy()[:-1], TradingTerms(low=0.0), beyond[:-1]
    )
    steps, close = told[row][1], holdout["close"].to_numpy()
    last = (1 + told[row][0]) * close[row] / close[row + steps - 1] - 1
    kept = close[row + 1 : row + steps] / close[row : row + steps - 1] - 1
    assert book.gross.sum() == pytest.approx((kept.sum() + last) / HORIZON)


def test_the_ledger_adds_up_to_the_reported_figures():
    table = bars(strength=0.9)
    problem = resolve_problem(
        table, {"target": "close", "time_column": "ts", "horizon": 2, "outlook": "direction"}
    )
    train, holdout = table[:700], table[700:].reset_index(drop=True)
    up = np.clip(0.5 + 0.4 * np.sign(holdout["flow"].to_numpy()), 0, 1)
    facts, ledger = backtest_report(
        train, holdout, problem, TradingTerms(fee_bps=1), np.column_stack([1 - up, up]), {}, "knowing"
    )
    close, held = holdout["close"].to_numpy(), ledger["position"].to_numpy()
    traded = np.abs(np.diff(held, prepend=0.0))
    net = held * (close[1:] / close[:-1] - 1) - traded * 1e-4
    grown = np.cumprod(1 + net)
    per_year, strategy = 365.25 * 24, facts["strategy"]
    assert ledger["equity"].to_numpy() == pytest.approx(grown)
    assert strategy["sharpe"] == pytest.approx(net.mean() / net.std(ddof=1) * np.sqrt(per_year))
    assert strategy["turnover"] == pytest.approx(traded.mean() * per_year)
    highest = np.maximum.accumulate(np.concatenate([[1.0], grown]))[1:]
    assert strategy["max_drawdown"] == pytest.approx((1 - grown / highest).max())


@pytest.mark.parametrize(("gains", "found"), [(12, False), (300, True)])
def test_a_few_lucky_bars_are_not_an_edge(gains, found):
    chance = np.random.default_rng(0)
    returns = np.abs(chance.normal(0.001, 0.0002, (900, 1))) * np.where(np.arange(900) % 3, -1, 1)[:, None]
    positions = np.zeros((900, 1))
    positions[: 3 * gains : 3] = 1.0
    book = run_strategy(positions, returns, TradingTerms())
    edge = assess_edge(book, returns, Trials(0.0, book.net, 1, 0.0, None))
    assert edge.significant == found, edge.sentence
    assert ("too few" in edge.sentence) != found
