"""The theta method."""

import numpy as np
import pytest

from app.modeling.forecasting.theta import forecast_theta


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_forecasts_rise_by_half_of_the_trend(offset):
    values = offset + 3.0 * np.arange(60) + np.random.default_rng(0).normal(0, 2, 60)
    path = forecast_theta(values, 60, 10, np.array([59]))[0]
    np.testing.assert_allclose(np.diff(path), 1.5, atol=0.05)
    assert abs(path[0] - values[-1]) < 8


def test_forecasts_of_a_level_with_noise_are_its_mean():
    values = 20 + np.random.default_rng(2).normal(0, 3, 200)
    path = forecast_theta(values, 200, 5, np.array([199]))[0]
    np.testing.assert_allclose(path, 20, atol=1.0)
