"""Autoregression of a series and of its changes."""

import numpy as np

from app.modeling.forecasting.autoregression import fit_burg, forecast_autoregression, forecast_changes


def autoregressive(coefficient: float, rows: int, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).normal(size=rows)
    for row in range(1, rows):
        values[row] += coefficient * values[row - 1]
    return values


def test_coefficients_are_those_of_the_series_and_noise_has_none():
    np.testing.assert_allclose(fit_burg(autoregressive(0.7, 4_000))[0], 0.7, atol=0.05)
    assert np.abs(fit_burg(np.random.default_rng(1).normal(size=4_000))).sum() < 0.1


def test_forecasts_return_to_the_mean_also_of_few_rows():
    values = 50 + autoregressive(0.9, 24)
    path = forecast_autoregression(values, 24, 200, np.array([23]))[0]
    np.testing.assert_allclose(path[-1], values.mean(), atol=0.5)
    assert np.ptp(np.append(path, values)) < 2 * np.ptp(values)


def test_changes_that_go_on_are_continued():
    chance = [np.cumsum(autoregressive(0.8, 63, seed)) for seed in range(20)]
    errors = {"changes": 0.0, "last value": 0.0}
    for values in chance:
        path = forecast_changes(values[:60], 60, 3, np.array([59]))[0]
        errors["changes"] += float(np.abs(path - values[60:]).mean())
        errors["last value"] += float(np.abs(values[59] - values[60:]).mean())
    assert errors["changes"] < 0.8 * errors["last value"]
