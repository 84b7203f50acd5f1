"""Intervals of forecasts along a path of steps."""

import numpy as np

from app.modeling.forecasting.path_intervals import PathIntervals, grows_with_level

HORIZON = 12


def test_intervals_are_wider_where_errors_hang_together():
    chance = np.random.default_rng(4)
    scale = np.sqrt(np.arange(1, HORIZON + 1))
    independent = chance.normal(0, 1, (60, HORIZON)) * scale
    steps = chance.normal(0, 1, 60 + HORIZON)
    dependent = np.array([np.cumsum(steps[i : i + HORIZON]) for i in range(60)])
    dependent *= np.sqrt((independent**2).mean(axis=0) / (dependent**2).mean(axis=0))
    widths = [
        np.subtract(*PathIntervals.fit(errors).bounds(np.zeros(HORIZON), np.arange(1, HORIZON + 1)))[-1]
        for errors in (independent, dependent)
    ]
    assert widths[1] < widths[0]  # low minus high: the dependent errors have the wider interval


def test_intervals_hold_nine_of_ten_truths():
    chance = np.random.default_rng(3)
    errors = np.cumsum(chance.normal(0, 1, (400, HORIZON)), axis=1)
    fitted = PathIntervals.fit(errors[:200])
    low, high = fitted.bounds(np.zeros((200, HORIZON)), np.arange(1, HORIZON + 1))
    share = ((errors[200:] >= low) & (errors[200:] <= high)).mean()
    assert 0.85 <= share <= 0.95


def test_errors_grow_with_the_level_or_do_not():
    levels = np.linspace(1, 4, 80)
    errors = np.random.default_rng(5).normal(0, 1, (80, HORIZON))
    assert grows_with_level(errors * levels[:, None], levels)
    assert not grows_with_level(errors, levels)
