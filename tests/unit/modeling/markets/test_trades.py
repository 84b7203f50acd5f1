"""Trades that end at a profit, a loss, or the end of patience: labels, weights and the backtest."""

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.defining import define
from app.modeling.labels import label_times, labels_of, teaching_weights, trades_of
from app.modeling.markets.backtest import Terms
from app.modeling.markets.report import backtest
from app.modeling.markets.signals import trades
from app.modeling.problem import Problem
from app.modeling.split import FoldPlan, SplitKind, folds, lock_holdout

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
    return define(table, wish | {"barriers": barriers, "kind": "classification"})


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
    labels, ends = labels_of(table, problem), label_times(table, problem)
    np.testing.assert_array_equal(labels[:-HORIZON], [float(earned > 0) for earned, _ in told])
    assert labels[-HORIZON:].isna().all()
    assert ends[-HORIZON:].isna().all()
    hours = ((ends - table["ts"]) / pd.Timedelta(hours=1))[:-HORIZON]
    assert hours.tolist() == [lasts for _, lasts in told]
    assert Problem.from_json(problem.to_json()) == problem


def test_no_fold_learns_from_a_trade_that_is_open_when_its_test_rows_begin():
    table = bars()
    problem = asked(table)
    ends = label_times(table, problem).to_numpy()
    for fold in folds(table, problem, FoldPlan(SplitKind.TIME, 4)):
        assert (ends[fold.train] < table["ts"].to_numpy()[fold.test].min()).all()


def test_trades_that_few_others_overlap_count_more():
    table = bars()
    problem = asked(table)
    weights, lasts = teaching_weights(table, problem), trades_of(table, problem)["lasts"]
    assert weights is not None
    assert weights.mean() == pytest.approx(1)
    assert weights[lasts == 1].mean() > 1.2 * weights[lasts == HORIZON].mean()
    alike = define(table, {"target": "close", "time_column": "ts", "horizon": HORIZON})
    assert teaching_weights(table, alike) is None, "labels of one length overlap alike"


def test_each_tranche_is_held_until_its_trade_ends():
    opened = np.array([[1.0], [0.0], [1.0], [0.0], [0.0]])
    lasts = np.array([[2.0], [1.0], [np.nan], [1.0], [1.0]])
    assert trades(opened, lasts, 4)[:, 0].tolist() == [0.25, 0.25, 0.25, 0.25, 0.25]
    assert trades(opened, np.ones((5, 1)), 4)[:, 0].tolist() == [0.25, 0.0, 0.25, 0.0, 0.0]


def test_a_foreseen_gain_is_traded_long_until_a_barrier_and_pays():
    table = bars(strength=0.9)
    problem = asked(table)
    locked = lock_holdout(table, problem, 0)
    said = [
        np.column_stack([1 - up, up])
        for rows in (locked.train, locked.holdout)
        for up in [np.clip(0.5 + 0.4 * np.sign(rows["flow"].to_numpy()), 0, 1)]
    ]
    tried = {"knowing": (np.arange(len(locked.train)), said[0])}
    facts = backtest(
        locked.train, locked.holdout, problem, Terms(fee_bps=1, low=0.0), said[1], tried, "knowing"
    )
    assert facts["edge"], facts["verdict"]
    assert facts["barriers"] == {"take_profit": 0.008, "stop_loss": 0.004}
    assert min(facts["curve"]["position"]) >= 0


def test_barriers_are_of_a_direction_only():
    with pytest.raises(InvalidInput, match="direction"):
        define(bars(), {"target": "close", "horizon": 3, "time_column": "ts", "barriers": [0.01, 0.01]})
