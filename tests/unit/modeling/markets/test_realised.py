"""The volatility that is foretold: from each bar to the horizon, of its own coin, and beside what."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.market_features import suggest_market_features
from app.modeling.forecasting.reference_forecasts import forecast_references
from app.modeling.labels.labels import make_labels
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.problem_definition.resolve_problem import resolve_problem


@pytest.fixture(scope="module")
def bars():
    chance = np.random.default_rng(0)
    coins = []
    for coin, size in (("A", 0.001), ("B", 0.01)):
        close = 100 * np.exp(np.cumsum(chance.normal(0, size, 300)))
        ts = pd.date_range("2024-01-01", periods=300, freq="5min")
        coins.append(pd.DataFrame({"ts": ts, "coin": coin, "close": close, "open": close, "high": close}))
    both = pd.concat(coins).assign(low=lambda rows: rows["close"])
    return both.sample(frac=1, random_state=1).reset_index(drop=True)


@pytest.fixture(scope="module")
def problem(bars) -> Problem:
    wish = {"target": "close", "horizon": 12, "outlook": "volatility", "time_column": "ts"}
    return resolve_problem(bars, {**wish, "group_column": "coin", "kind": "classification"})


def test_a_volatility_problem_is_a_regression(problem):
    assert problem.kind is ProblemKind.REGRESSION


def test_the_label_is_the_realised_volatility_of_the_next_bars(bars, problem):
    told = make_labels(bars, problem)
    for coin in ("A", "B"):
        rows = bars[bars["coin"] == coin].sort_values("ts")
        logs = np.log(rows["close"].to_numpy())
        expected = [np.sqrt(np.sum(np.diff(logs[at : at + 13]) ** 2)) for at in range(288)]
        assert told.loc[rows.index[:288]].to_numpy() == pytest.approx(expected)
        assert told.loc[rows.index[288:]].isna().all()


def test_volatility_references_use_no_later_row(bars, problem):
    ordered = bars.sort_values("ts").reset_index(drop=True)
    train, holdout = ordered[:400], ordered[400:]
    said = forecast_references(train, holdout, problem).forecasts
    assert set(said) == {"last volatility", "weighted average"}
    cut = forecast_references(train, holdout[:50], problem).forecasts
    for name, each in said.items():
        assert each[:50] == pytest.approx(cut[name])
        of = holdout["coin"].to_numpy()
        assert each[of == "B"].mean() / each[of == "A"].mean() == pytest.approx(10, rel=0.2)


def test_suggested_windows_include_the_horizon(bars, problem):
    [volatility, *_] = suggest_market_features(bars, problem)
    assert volatility["windows"] == [12, 48]
    longer = resolve_problem(
        bars, {"target": "close", "horizon": 288, "outlook": "volatility", "time_column": "ts"}
    )
    assert suggest_market_features(bars, longer)[0]["windows"] == [12, 48, 288]
