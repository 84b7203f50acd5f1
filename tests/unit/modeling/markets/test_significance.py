"""What is planted is found at its known strength; what is not there is not found."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from app.modeling.markets.backtest import TradingTerms
from app.modeling.markets.backtest_report import backtest_report as backtested
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem

BARS, TRAIN = 4000, 3000
SIGMA = 0.004
PROBLEM = Problem(
    "close",
    ProblemKind.CLASSIFICATION,
    "roc_auc",
    ("down", "up"),
    "up",
    time_column="ts",
    horizon=1,
    outlook=Outlook.DIRECTION,
)


def market(strength: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Prices, and a signal with that correlation with the next return."""
    chance = np.random.default_rng(seed)
    signal, noise = chance.normal(size=BARS), chance.normal(size=BARS)
    moved = SIGMA * (strength * np.roll(signal, 1) + np.sqrt(1 - strength**2) * noise)
    times = pd.date_range("2025-01-01", periods=BARS, freq="h")
    return pd.DataFrame({"ts": times, "close": 100 * np.cumprod(1 + moved)}), signal


def played(strength: float, seed: int, terms: TradingTerms, models: int = 6) -> dict:
    """Several models that say what the signal says, each with an error of its own; the first is chosen."""
    frame, signal = market(strength, seed)
    chance = np.random.default_rng(seed + 1000)
    rows = np.arange(TRAIN // 3, TRAIN - 1)

    def said(part: np.ndarray, blur: float) -> np.ndarray:
        up = 1 / (1 + np.exp(-1.6 * strength * (part + blur * chance.normal(size=len(part)))))
        return np.column_stack([1 - up, up])

    tried = {f"m{k}": (rows, said(signal[rows], 0.1 * k)) for k in range(models)}
    train, holdout = frame.iloc[:TRAIN], frame.iloc[TRAIN:].reset_index(drop=True)
    return backtested(train, holdout, PROBLEM, terms, said(signal[TRAIN:], 0.0), tried, "m0")[0]


def theory(strength: float, margin: float, terms: TradingTerms) -> float:
    """The annual Sharpe ratio of holding the sign of a normal signal where its size is beyond a threshold.

    With r its correlation with the next return and c the threshold: the mean is r * 2 * density(c) standard
    deviations; a bar is traded with probability q, so that positions move by 2q - q * q a bar.
    """
    least = margin * terms.round_trip / (SIGMA * np.sqrt(2 / np.pi))
    beyond = np.arctanh(least) / (0.8 * strength)
    traded, density = 2 * norm.sf(beyond), 2 * norm.pdf(beyond)
    mean = SIGMA * strength * density - terms.cost * (2 * traded - traded**2)
    square = SIGMA**2 * (traded + strength**2 * beyond * density)
    return float(mean / np.sqrt(square - mean**2) * np.sqrt(365.25 * 24))


@pytest.mark.parametrize("terms", [TradingTerms(), TradingTerms(fee_bps=1, slippage_bps=0.5)])
def test_the_sharpe_ratio_of_a_planted_signal_equals_theory(terms):
    off = []
    for seed in range(6):
        facts = played(0.15, seed, terms)
        expected = theory(0.15, facts["margin"], terms)
        off.append((facts["strategy"]["sharpe"] - expected) / facts["strategy"]["sharpe_error"])
    assert np.abs(off).max() < 3
    assert abs(np.mean(off)) < 3 / np.sqrt(len(off))


def test_a_strong_signal_is_an_edge_after_costs():
    facts = played(0.2, 3, TradingTerms(fee_bps=1, slippage_bps=0.5))
    assert facts["edge"]
    assert facts["verdict"].startswith("An edge after costs")
    assert facts["overfitting"] is not None
    assert facts["strategy"]["sharpe"] > max(each["sharpe"] for each in facts["baselines"])


@pytest.mark.parametrize("fee", [0.0, 5.0])
def test_random_walks_have_no_edge_in_20_of_20_seeds(fee):
    """Models that read much out of noise: what they say is as bold as if the signal were strong."""
    for seed in range(20):
        frame, _ = market(0.0, seed)
        chance = np.random.default_rng(seed + 500)
        rows = np.arange(1000, TRAIN - 1)

        def bold(count: int, chance=chance) -> np.ndarray:
            up = chance.beta(3, 3, count)
            return np.column_stack([1 - up, up])

        tried = {f"m{k}": (rows, bold(len(rows))) for k in range(10)}
        train, holdout = frame.iloc[:TRAIN], frame.iloc[TRAIN:].reset_index(drop=True)
        facts = backtested(train, holdout, PROBLEM, TradingTerms(fee_bps=fee), bold(len(holdout)), tried, "m0")[
            0
        ]
        assert not facts["edge"], (seed, facts["verdict"])
        assert facts["verdict"].startswith("No edge after costs")


def test_a_baseline_that_does_as_well_is_named():
    """Prices that go on as they went: persistence needs no model."""
    chance = np.random.default_rng(0)
    moved = np.zeros(BARS)
    for bar in range(1, BARS):
        moved[bar] = 0.5 * moved[bar - 1] + SIGMA * chance.normal()
    times = pd.date_range("2025-01-01", periods=BARS, freq="h")
    frame = pd.DataFrame({"ts": times, "close": 100 * np.exp(np.cumsum(moved))})
    up = 1 / (1 + np.exp(-200 * (moved + 0.002 * chance.normal(size=BARS))))
    said, rows = np.column_stack([1 - up, up]), np.arange(1000, TRAIN - 1)
    train, holdout = frame.iloc[:TRAIN], frame.iloc[TRAIN:].reset_index(drop=True)
    facts = backtested(train, holdout, PROBLEM, TradingTerms(), said[TRAIN:], {"m": (rows, said[rows])}, "m")[0]
    assert facts["edge"]
    assert facts["verdict"].endswith("But persistence does as well without a model.")


def test_a_weak_signal_has_no_edge_after_costs():
    facts = played(0.05, 1, TradingTerms(fee_bps=30))
    assert not facts["edge"]
    assert played(0.05, 1, TradingTerms(fee_bps=30))["break_even_bps"] in (None, facts["break_even_bps"])


def test_a_rising_market_is_no_edge_of_a_model_that_is_always_long():
    frame, _ = market(0.0, 0)
    frame["close"] *= np.exp(0.001 * np.arange(BARS))
    always = np.tile([0.1, 0.9], (BARS, 1))
    rows = np.arange(1000, TRAIN - 1)
    train, holdout = frame.iloc[:TRAIN], frame.iloc[TRAIN:].reset_index(drop=True)
    facts = backtested(
        train, holdout, PROBLEM, TradingTerms(), always[TRAIN:], {"m": (rows, always[rows])}, "m"
    )[0]
    assert facts["strategy"]["total_return"] == pytest.approx(facts["baselines"][0]["total_return"])
    assert "holding the same position" in facts["verdict"]
