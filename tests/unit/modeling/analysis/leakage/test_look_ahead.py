"""Columns that were computed with later rows are named; fair ones are not."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.exploration import explore
from app.modeling.analysis.leakage.look_ahead import find_peeking_columns
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.transforms.indicators import Indicators

ROWS = 1500
HOUR = 12


def series(seed: int = 0) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    close = 100 * np.exp(np.cumsum(chance.normal(0, 0.004, ROWS)))
    opened = np.concatenate([[100.0], close[:-1]])
    wide = 1 + np.abs(chance.normal(0, 0.001, ROWS))
    return pd.DataFrame(
        {
            "ts": pd.date_range("2025-01-01", periods=ROWS, freq="h"),
            "open": opened,
            "high": np.maximum(opened, close) * wide,
            "low": np.minimum(opened, close) / wide,
            "close": close,
            "volume": chance.lognormal(3, 0.5, ROWS),
        }
    )


def problem(frame: pd.DataFrame, **settings: object) -> Problem:
    asked = Problem("close", ProblemKind.CLASSIFICATION, "roc_auc", ("down", "up"), "up", "ts", horizon=HOUR)
    return Problem(**{**vars(asked), "outlook": Outlook.DIRECTION, **settings})


def noise(seed: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=ROWS)


PEEKS = {
    "the next return": lambda frame: frame.close.shift(-1) / frame.close - 1,
    "the return to the horizon, with noise": lambda frame: (
        (frame.close.shift(-HOUR) / frame.close - 1) + 0.005 * noise()
    ),
    "a centred average": lambda frame: frame.close.rolling(11, center=True).mean(),
    "the day's close on all its rows": lambda frame: frame.close.groupby(frame.ts.dt.date).transform("last"),
    "the next bar's high": lambda frame: frame.high.shift(-1),
    "a series that was smoothed both ways": lambda frame: (
        frame.close.ewm(span=9).mean()[::-1].ewm(span=9).mean()[::-1]
    ),
}


@pytest.mark.parametrize("made", PEEKS.values(), ids=PEEKS)
def test_a_column_that_peeks_ahead_is_named(made):
    frame = series()
    frame["clever"] = made(frame)
    [leak] = find_peeking_columns(frame, problem(frame))
    assert (leak["column"], leak["kind"], leak["certain"]) == ("clever", "peeks_ahead", True)
    assert "'clever' peeks ahead" in leak["text"]


@pytest.mark.parametrize("seed", range(3))
def test_fair_columns_are_not_suspected(seed):
    frame = series(seed)
    names = ("SMA_20", "EMA_50", "RSI_14", "MACD", "BBANDS_20", "ATR_14", "OBV", "HT_TRENDLINE", "DPO_20")
    frame = Indicators(names=names, relative=False).apply(frame, {}, None)
    frame["trend"] = np.arange(ROWS) + noise(seed)
    frame["macro"] = np.cumsum(noise(seed + 50))
    assert find_peeking_columns(frame, problem(frame)) == []


@pytest.mark.parametrize("target", ["close", "high", "open"])
def test_columns_of_the_same_bar_are_fair(target):
    frame = series()
    assert find_peeking_columns(frame, problem(frame, target=target)) == []


def test_a_strong_fair_signal_is_not_suspected():
    frame = series()
    following = (frame.close.shift(-1) / frame.close - 1) / 0.004
    frame["flow"] = 0.3 * following.fillna(0.0) + np.sqrt(1 - 0.3**2) * noise()
    assert find_peeking_columns(frame, problem(frame)) == []


def test_coins_are_examined_separately():
    both = pd.concat([series(1).assign(coin="A"), series(2).assign(coin="B")]).sort_values(["ts", "coin"])
    both = both.reset_index(drop=True)
    both["clever"] = both.groupby("coin").close.shift(-1)
    found = find_peeking_columns(both, problem(both, group_column="coin"))
    assert [leak["column"] for leak in found] == ["clever"]


def test_a_forecastable_series_is_not_searched_for_peeking():
    """Sales follow the season: a plan for tomorrow is a fair input there."""
    days = np.arange(ROWS)
    sales = 100 + 30 * np.sin(days / 7 * 2 * np.pi) + np.random.default_rng(0).normal(0, 2, ROWS)
    frame = pd.DataFrame({"ts": pd.date_range("2020-01-01", periods=ROWS), "close": sales})
    frame["plan"] = frame.close.shift(-1)
    assert find_peeking_columns(frame, problem(frame)) == []


def test_the_exploration_of_a_training_frame_names_it():
    frame = series()
    frame["clever"] = frame.close.rolling(11, center=True).mean()
    facts = explore(frame, problem(frame), [])
    assert [(leak["column"], leak["kind"]) for leak in facts["leaks"]] == [("clever", "peeks_ahead")]
