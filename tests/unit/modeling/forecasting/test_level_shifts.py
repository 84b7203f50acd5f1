"""The level since its last shift, and forecasts that use it."""

import numpy as np
import pytest

from app.modeling.forecasting.level_shifts import mean_since_shift
from app.modeling.forecasting.methods import SINCE_SHIFT, SMOOTHING, list_methods


def shifted(levels: list[float], length: int, seed: int = 0) -> np.ndarray:
    return np.repeat(levels, length) + np.random.default_rng(seed).normal(size=length * len(levels))


@pytest.mark.parametrize("levels", [[10.0], [10.0, 30.0], [10.0, 40.0, 25.0], [10.0, 18.0]])
def test_the_mean_is_that_of_the_last_level(levels: list[float]) -> None:
    assert mean_since_shift(shifted(levels, 60)) == pytest.approx(levels[-1], abs=0.5)


def test_noise_without_a_shift_keeps_all_rows() -> None:
    for seed in range(20):
        values = shifted([5.0], 200, seed)
        assert mean_since_shift(values) == pytest.approx(values.mean())


def test_a_constant_and_a_short_series_have_their_mean() -> None:
    assert mean_since_shift(np.full(30, 7.0)) == 7.0
    assert mean_since_shift(np.array([1.0, 3.0])) == 2.0


def test_after_a_shift_the_restarted_level_beats_smoothing_and_keeps_the_season() -> None:
    rows = np.arange(170)
    week = np.array([0, 0, 1, 2, 4, 9, 7.0])
    values = 50 + 40.0 * (rows >= 150) + week[rows % 7] + np.random.default_rng(0).normal(size=170)
    methods = list_methods(values, 150, [7])
    forecasts = {name: methods[name](values, 150, 14, np.array([158]))[0] for name in (SINCE_SHIFT, SMOOTHING)}
    shown = 90 + week[np.arange(159, 173) % 7]
    errors = {name: float(np.abs(forecast - shown).mean()) for name, forecast in forecasts.items()}
    assert errors[SINCE_SHIFT] < 1.5
    assert errors[SINCE_SHIFT] < errors[SMOOTHING]
