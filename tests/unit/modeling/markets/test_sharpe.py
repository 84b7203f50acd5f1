"""Sharpe ratios against the papers' own numbers and against plain formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.markets.backtest import TradingTerms, drawdown, equity_curve, run_strategy
from app.modeling.markets.sharpe import (
    Moments,
    compute_moments,
    deflated_sharpe,
    expected_highest,
    performance_figures,
    probabilistic_sharpe,
    sharpe_ratio,
    sortino_ratio,
    standard_error,
)

DAYS = 250
PAPER = Moments(bars=1250, sharpe=2.5 / np.sqrt(DAYS), skew=-3.0, kurtosis=10.0)
"""Bailey & López de Prado (2014), "A numerical example": five years of days, annual Sharpe ratio 2.5."""
PAPER_VARIANCE = 0.5 / DAYS


def test_the_expected_best_of_a_hundred_trials_equals_the_paper():
    assert expected_highest(100, PAPER_VARIANCE) == pytest.approx(0.1132, abs=5e-5)


@pytest.mark.parametrize(
    ("of", "trials", "expected"),
    [
        (PAPER, 100, 0.9004),
        (PAPER, 46, 0.9505),
        (Moments(PAPER.bars, PAPER.sharpe, 0.0, 3.0), 88, 0.9505),
    ],
)
def test_the_deflated_sharpe_ratio_equals_the_paper(of, trials, expected):
    assert deflated_sharpe(of, trials, PAPER_VARIANCE) == pytest.approx(expected, abs=5e-4)


def test_a_single_trial_is_not_deflated():
    assert expected_highest(1, 1.0) == 0.0
    assert deflated_sharpe(PAPER, 1, 1.0) == probabilistic_sharpe(PAPER)


def test_the_standard_error_of_normal_returns_is_the_one_of_lo():
    of = Moments(bars=501, sharpe=0.1, skew=0.0, kurtosis=3.0)
    assert standard_error(of) == pytest.approx(np.sqrt((1 + 0.1**2 / 2) / 500))


def test_the_standard_error_equals_the_scatter_of_sampled_sharpe_ratios():
    drawn = np.random.default_rng(0).standard_t(6, (2000, 400)) + 0.1
    fat = Moments(bars=400, sharpe=0.1 / np.sqrt(1.5), skew=0.0, kurtosis=6.0)
    assert np.std([sharpe_ratio(each) for each in drawn]) == pytest.approx(standard_error(fat), rel=0.05)


def test_constant_returns_have_a_ratio_of_zero():
    assert sharpe_ratio(np.zeros(10)) == sortino_ratio(np.zeros(10)) == 0.0
    assert compute_moments(np.full(10, 0.01)).sharpe == 0.0


returns = st.lists(st.floats(-0.2, 0.2), min_size=5, max_size=60).map(np.array)


@settings(max_examples=60, deadline=None)
@given(net=returns)
def test_drawdown_is_the_fall_from_the_highest_point_so_far(net):
    grown = [1.0, *equity_curve(net)]
    slow = [min(grown[i + 1] / high - 1 for high in grown[: i + 2]) for i in range(len(net))]
    np.testing.assert_allclose(drawdown(net), slow, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(),
    bars=st.integers(2, 30),
    coins=st.integers(1, 3),
    fee=st.floats(0, 50),
    slippage=st.floats(0, 20),
    low=st.sampled_from([-1.0, -0.5, 0.0]),
)
def test_a_backtest_equals_a_bar_by_bar_ledger(data, bars, coins, fee, slippage, low):
    numbers = st.lists(st.floats(-2, 2), min_size=bars * coins, max_size=bars * coins)
    wanted = np.array(data.draw(numbers)).reshape(bars, coins)
    moved = np.array(data.draw(numbers)).reshape(bars, coins) / 20
    terms = TradingTerms(fee, slippage, low, 1.0)
    book = run_strategy(wanted, moved, terms)
    held = [0.0] * coins
    for bar in range(bars):
        net = 0.0
        for coin in range(coins):
            now = min(max(wanted[bar, coin], low), 1.0)
            net += now * moved[bar, coin] - abs(now - held[coin]) * (fee + slippage) / 10_000
            held[coin] = now
        assert book.net[bar] == pytest.approx(net / coins, abs=1e-12)
    assert book.by_coin.mean(axis=1) == pytest.approx(book.net, abs=1e-12)


def test_a_missing_bar_earns_nothing():
    book = run_strategy(np.ones((3, 1)), np.array([[0.1], [np.nan], [0.1]]), TradingTerms())
    assert book.net.tolist() == [0.1, 0.0, 0.1]


def test_the_figures_of_a_year_of_days_are_annual():
    net = np.random.default_rng(1).normal(0.001, 0.01, 365)
    book = run_strategy(np.ones((365, 1)), net[:, None], TradingTerms(fee_bps=10))
    said = performance_figures(book, 365)
    assert said["sharpe"] == pytest.approx(book.net.mean() / book.net.std(ddof=1) * np.sqrt(365))
    assert said["total_return"] == pytest.approx(np.prod(1 + book.net) - 1)
    assert said["annual_return"] == pytest.approx(said["total_return"])
    assert said["turnover"] == pytest.approx(1.0)
    assert said["paid"] == pytest.approx(0.001)
    assert said["exposure"] == 1.0
