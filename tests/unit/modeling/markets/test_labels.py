"""Labels that look ahead, their weights, and volatility, each against a plain reading of its formula."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.modeling.labels.barriers import triple_barrier
from app.modeling.labels.uniqueness import average_uniqueness, uniqueness_weights
from app.modeling.recipe.volatility import close_to_close, garman_klass, parkinson


@settings(max_examples=60, deadline=None)
@given(
    moves=st.lists(st.floats(-0.05, 0.05), min_size=2, max_size=40),
    horizon=st.integers(1, 8),
    width=st.floats(0.005, 0.05),
    up=st.sampled_from([0.0, 1.0, 2.0]),
    down=st.sampled_from([0.0, 1.0]),
)
def test_the_first_barrier_that_is_touched_is_the_label(moves, horizon, width, up, down):
    close = 100 * np.cumprod(1 + np.array(moves))
    found = triple_barrier(close, np.full(len(close), width), horizon, up, down)
    for row in range(len(close)):
        label = np.nan
        for step in range(1, horizon + 1):
            if row + step >= len(close):
                break
            moved = close[row + step] / close[row] - 1
            if up and moved >= up * width:
                label = 1.0
            elif down and moved <= -down * width:
                label = -1.0
            elif step == horizon:
                label = 0.0
            else:
                continue
            assert found.touched[row] == step
            assert found.earned[row] == pytest.approx(moved)
            break
        np.testing.assert_equal(found.label[row], label)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.booleans()), min_size=1, max_size=40),
)
def test_uniqueness_is_the_mean_share_of_each_bar(rows):
    bars = np.arange(40.0)
    begins = np.array([float(begin) for begin, _, _ in rows])
    ends = np.array([begin + length if known else np.nan for begin, length, known in rows])
    alive = [[bar for bar in bars if begin < bar <= end] for begin, end in zip(begins, ends, strict=True)]
    shared = {bar: sum(bar in life for life in alive) for bar in bars}
    expected = [np.mean([1 / shared[bar] for bar in life]) if life else 0.0 for life in alive]
    np.testing.assert_allclose(average_uniqueness(begins, ends, bars), expected, atol=1e-12)


def test_weights_of_labels_over_the_same_bars_are_shared():
    bars = np.arange(100.0)
    weights = average_uniqueness(bars[:-10], bars[:-10] + 10, bars)
    assert weights[20:70] == pytest.approx(0.1)
    assert weights[0] > 0.2
    assert uniqueness_weights(bars[:-10], bars[:-10] + 10, bars).mean() == pytest.approx(1.0)


def test_volatility_estimators_recover_that_of_a_random_walk():
    chance = np.random.default_rng(0)
    steps = chance.normal(0, 0.02 / np.sqrt(400), (1500, 400))
    paths = np.cumsum(steps, axis=1) + np.concatenate([[0.0], np.cumsum(steps.sum(axis=1))[:-1]])[:, None]
    opened = pd.Series(np.exp(paths[:, 0] - steps[:, 0]))
    close, high, low = (
        pd.Series(np.exp(each)) for each in (paths[:, -1], paths.max(axis=1), paths.min(axis=1))
    )
    assert close_to_close(close, 1400).iloc[-1] == pytest.approx(0.02, rel=0.06)
    # Highs and lows of a path that is looked at 400 times lie a little inside the true ones.
    assert parkinson(high, low, 1400).iloc[-1] == pytest.approx(0.02, rel=0.08)
    assert garman_klass(opened, high, low, close, 1400).iloc[-1] == pytest.approx(0.02, rel=0.1)


def test_parkinson_and_garman_klass_are_their_formulas():
    frame = pd.DataFrame({"o": [10.0, 11.0], "h": [12.0, 12.5], "l": [9.0, 10.0], "c": [11.0, 10.5]})
    spread = np.log(frame.h / frame.l) ** 2
    assert parkinson(frame.h, frame.l, 2).iloc[1] == pytest.approx(np.sqrt(spread.mean() / (4 * np.log(2))))
    body = np.log(frame.c / frame.o) ** 2
    expected = np.sqrt((spread / 2 - (2 * np.log(2) - 1) * body).mean())
    assert garman_klass(frame.o, frame.h, frame.l, frame.c, 2).iloc[1] == pytest.approx(expected)
