"""Choice among classical methods."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.modeling.forecasting.methods import list_methods
from app.modeling.forecasting.selection import (
    Trial,
    choose_methods,
    combine,
    cross_fit_paths,
    run_trial,
    trial_rows,
)
from app.modeling.forecasting.series_forecast import forecast_series, list_seasons
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.sampling_interval import IntervalUnit, SamplingInterval

HORIZON = 12


def monthly(rows: int = 180, seed: int = 0) -> np.ndarray:
    months = np.arange(rows)
    return 200 + months + 40 * np.sin(months * np.pi / 6) + np.random.default_rng(seed).normal(0, 8, rows)


def test_no_method_uses_later_rows():
    values, origins = monthly(), np.array([119, 130])
    changed = values.copy()
    changed[131:] += 1_000.0
    for name, method in list_methods(values, 120, (12,)).items():
        before, after = (method(series, 120, HORIZON, origins) for series in (values, changed))
        np.testing.assert_allclose(before, after, err_msg=name)


def test_seasons_are_those_of_the_spacing():
    assert list_seasons(SamplingInterval(IntervalUnit.SECOND, 86_400.0)) == (7, 364, 365)
    assert list_seasons(SamplingInterval(IntervalUnit.SECOND, 1_800.0)) == (48, 336)
    assert list_seasons(SamplingInterval(IntervalUnit.MONTH, 3)) == (4,)
    assert list_seasons(SamplingInterval(IntervalUnit.MONTH, 12)) == ()


def test_a_seasonal_method_is_chosen_for_a_seasonal_series():
    values = monthly()
    cut = trial_rows(len(values), HORIZON, (12,))
    trial = run_trial(values, list_methods(values, cut, (12,)), cut, HORIZON)
    assert trial is not None
    choice = choose_methods([trial], is_squared=False)
    assert "last value" not in choice.methods
    assert choice.errors[choice.methods[0]] < 0.5 * choice.errors["last value"]
    assert sum(choice.weights.values()) == pytest.approx(1.0)
    assert list(choice.weights.values()) == sorted(choice.weights.values(), reverse=True)


def test_the_fewer_the_rows_of_a_trial_the_more_alike_are_the_weights():
    chance = np.random.default_rng(3)
    shares = []
    for rows in (6, 120):
        truth = chance.normal(0, 1, (rows, 1))
        noise = chance.normal(0, 1, (rows, 1))
        forecasts = {"exponential smoothing": truth + noise, "theta method": truth + 1.5 * noise}
        weights = choose_methods([Trial(truth, forecasts, 1.0)], is_squared=True).weights
        shares.append(weights["exponential smoothing"])
    assert 0.5 < shares[0] < 0.75 < shares[1]


def test_methods_that_suit_few_series_weigh_less_than_those_that_follow_most():
    truth = np.random.default_rng(3).normal(0, 1, (8, 1))
    forecasts = {"median of the last 60 rows": truth + 0.98, "theta method": truth + 1.0}
    weights = choose_methods([Trial(truth, forecasts, 1.0)], is_squared=True).weights
    assert weights["theta method"] > weights["median of the last 60 rows"]


def test_a_value_of_zero_leaves_the_other_methods_to_forecast():
    kind, outlook = ProblemKind.REGRESSION, Outlook.VALUE
    problem = Problem("sold", kind, "mae", time_column="month", horizon=6, every_step=True, outlook=outlook)
    months = pd.date_range("2005-01-01", periods=100, freq="MS")
    forecast = forecast_series(pd.DataFrame({"month": months, "sold": monthly(100)}), problem)
    assert forecast is not None
    assert any("logarithm" in name for name in forecast.forecaster.choice.methods)
    [history] = forecast.histories
    closed = replace(history, values=np.append(history.values[:-1], 0.0))
    path = forecast.forecaster.forecast(closed, problem)["prediction"]
    assert np.ptp(path) > 0
    assert path.mean() > 50


def test_a_method_without_error_is_taken_alone():
    values = np.tile(np.arange(12.0), 10)
    trial = run_trial(values, list_methods(values, 60, (12,), is_smoothed=False), 60, HORIZON)
    assert trial is not None
    choice = choose_methods([trial], is_squared=False)
    assert len(choice.methods) == 1
    assert choice.errors[choice.methods[0]] == pytest.approx(0.0, abs=1e-9)


def test_a_trial_fits_again_after_a_new_level():
    chance = np.random.default_rng(1)
    values = np.where(np.arange(160) > 100, 60.0, 40.0) + chance.normal(0, 2, 160)
    methods = list_methods(values, 96, ())
    errors = {}
    for refits in (1, 4):
        trial = run_trial(values, methods, 96, HORIZON, refits)
        assert trial is not None
        misses = np.abs(trial.truth - trial.forecasts["exponential smoothing"])[len(trial.truth) // 2 :]
        errors[refits] = float(np.nanmean(misses))
    assert errors[4] < errors[1]


@pytest.mark.parametrize("rows", [30, 180])
def test_series_of_a_table_are_forecast_with_the_sum_that_is_asked_for(rows):
    tables = [
        pd.DataFrame(
            {
                "month": pd.date_range("2005-01-01", periods=rows, freq="MS"),
                "region": region,
                "sold": monthly(rows, place),
            }
        )
        for place, region in enumerate(("coast", "hills"))
    ]
    kind, outlook = ProblemKind.REGRESSION, Outlook.VALUE
    problem = Problem(
        "sold",
        kind,
        "mae",
        time_column="month",
        group_column="region",
        horizon=6,
        every_step=True,
        outlook=outlook,
    )
    forecast = forecast_series(pd.concat(tables, ignore_index=True), problem, "sum", skipped=3)
    assert forecast is not None
    assert list(forecast.frame.columns) == ["region", "month", "rows_ahead", "prediction", "low", "high"]
    assert len(forecast.frame) == 12
    for answer in forecast.answers:
        part = forecast.frame[(forecast.frame.region == answer["group"]) & (forecast.frame.rows_ahead > 3)]
        assert answer["value"] == pytest.approx(part.prediction.sum())
        assert answer["low"] < answer["value"] < answer["high"]


def test_a_series_that_is_constant_at_first_decides_for_no_other():
    values = np.append(np.full(40, 5.0), 5.0 + 1_000.0 * np.arange(30) % 7_000.0)
    trial = run_trial(values, list_methods(values, 40, ()), 40, HORIZON)
    assert trial is not None
    assert trial.scale == pytest.approx(np.abs(np.diff(values)).mean())
    flat = np.full(70, 5.0)
    assert run_trial(flat, list_methods(flat, 40, ()), 40, HORIZON) is None


def test_errors_of_weights_are_measured_on_rows_that_did_not_choose_them():
    chance = np.random.default_rng(6)
    truth = chance.normal(0, 1, (24, 4))
    # Methods that know nothing: one of them is the best of any rows by chance.
    forecasts = {f"method {number}": chance.normal(0, 1, (24, 4)) for number in range(12)}
    trial = Trial(truth, forecasts, 1.0)
    own = truth - combine(forecasts, choose_methods([trial], is_squared=True).weights)
    crossed = truth - cross_fit_paths([trial], is_squared=True)[0]
    assert np.isfinite(crossed).all()
    assert (crossed**2).mean() > (own**2).mean()
