"""The probability of backtest overfitting against a plain reading of the paper."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from app.modeling.markets.overfitting import probability_of_overfitting


def plain(returns: np.ndarray, parts: int) -> float:
    """Step by step as Bailey, Borwein, López de Prado & Zhu write it."""
    blocks = np.array_split(returns, parts)
    logits = []
    for half in combinations(range(parts), parts // 2):
        inside = np.concatenate([blocks[place] for place in half])
        outside = np.concatenate([blocks[place] for place in range(parts) if place not in half])
        best = np.argmax(inside.mean(axis=0) / inside.std(axis=0))
        rank = rankdata(outside.mean(axis=0) / outside.std(axis=0))[best] / (returns.shape[1] + 1)
        logits.append(np.log(rank / (1 - rank)))
    return float(np.mean(np.array(logits) <= 1e-12))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    trials=st.integers(2, 9),
    parts=st.sampled_from([2, 4, 6]),
    bars=st.integers(60, 90),
)
def test_the_probability_of_overfitting_equals_the_definition_of_the_paper(seed, trials, parts, bars):
    returns = np.random.default_rng(seed).normal(0, 1, (bars, trials))
    assert probability_of_overfitting(returns, parts) == pytest.approx(plain(returns, parts))


def test_a_strategy_that_is_always_best_is_not_overfitted():
    returns = np.random.default_rng(0).normal(0, 1, (500, 8))
    returns[:, 3] += 0.5
    assert probability_of_overfitting(returns) == 0.0


def test_worthless_strategies_are_overfitted_about_half_the_time():
    chance = np.random.default_rng(0)
    found = [probability_of_overfitting(chance.normal(0, 1, (400, 20)), 8) for _ in range(30)]
    assert 0.35 < np.mean(found) < 0.65


def test_one_strategy_or_a_few_bars_have_no_probability_of_overfitting():
    assert probability_of_overfitting(np.zeros((500, 1))) is None
    assert probability_of_overfitting(np.zeros((9, 5))) is None
