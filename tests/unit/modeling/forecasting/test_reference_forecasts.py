"""Forecasts without a model: each against its plain definition, none from later rows."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.tsa.holtwinters import ExponentialSmoothing

from app.modeling.evaluation.methods_evaluation import evaluate_methods, predict_by_methods
from app.modeling.forecasting.ets import Smoothing
from app.modeling.forecasting.reference_comparison import (
    compare_with_references,
    recommend,
    reference_notes,
)
from app.modeling.forecasting.reference_forecasts import forecast_references
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.naive_forecasts import DAY_S, detect_season, drift, seasonal_naive
from app.modeling.scoring.independent_units import IndependentUnits
from app.modeling.scoring.scores import Predicted


def sales(rows: int = 400, seed: int = 0, noise: float = 2.0) -> np.ndarray:
    """Days with a week's season and a trend."""
    days = np.arange(rows)
    wander = np.cumsum(np.random.default_rng(seed + 1).normal(0, 0.5, rows))
    errors = np.random.default_rng(seed).normal(0, noise, rows)
    return 80 + 0.05 * days + 15 * np.sin(2 * np.pi * days / 7) + wander + errors


@settings(max_examples=60, deadline=None)
@given(rows=st.integers(2, 60), horizon=st.integers(1, 20), season=st.integers(2, 12))
def test_the_last_season_is_the_latest_known_row_at_its_place(rows, horizon, season):
    values = np.arange(float(rows))
    made = seasonal_naive(values, horizon, season)
    for row in range(rows):
        wanted = row + horizon
        while wanted > row:
            wanted -= season
        assert (np.isnan(made[row]) and wanted < 0) or made[row] == values[wanted]


def test_drift_extrapolates_the_mean_change():
    assert drift(np.array([1.0, 3.0, 5.0]), 2).tolist() == [1.0, 7.0, 9.0]


def test_a_season_is_detected_only_in_seasonal_series():
    assert detect_season(sales(), [1], DAY_S) == 7
    assert detect_season(sales(), [7], DAY_S) is None, "a week ahead the last value is the last season"
    walk = np.cumsum(np.random.default_rng(0).normal(size=400))
    assert detect_season(walk, [1], DAY_S) is None
    hours, errors = np.arange(600), np.random.default_rng(1).normal(0, 0.1, 600)
    assert detect_season(np.sin(2 * np.pi * hours / 24) + errors, [3], 3600.0) == 24


@pytest.mark.parametrize("season", [7, None])
def test_smoothing_row_by_row_equals_statsmodels(season):
    values = sales(250)
    learned = Smoothing.fit(values, season)
    model = ExponentialSmoothing(
        values,
        trend="add",
        damped_trend=True,
        seasonal="add" if season else None,
        seasonal_periods=season,
        initialization_method="known",
        initial_level=learned.level,
        initial_trend=learned.trend,
        initial_seasonal=learned.seasons if season else None,
    ).fit(
        smoothing_level=learned.alpha,
        smoothing_trend=learned.beta,
        smoothing_seasonal=learned.gamma if season else None,
        damping_trend=learned.phi,
        optimized=False,
    )
    np.testing.assert_allclose(learned.forecast(values, 1)[:-1], model.fittedvalues[1:], rtol=1e-9)
    ahead = [learned.forecast(values, horizon)[-1] for horizon in (1, 2, 9)]
    np.testing.assert_allclose(ahead, model.forecast(9)[[0, 1, 8]], rtol=1e-9)


@pytest.mark.parametrize("season", [7, None])
def test_smoothing_fits_rows_ahead_as_well_as_a_search_by_gradients(season):
    ratios = []
    for seed in range(4):
        values = sales(200, seed)
        if season is None:
            values -= 15 * np.sin(2 * np.pi * np.arange(200) / 7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            searched = ExponentialSmoothing(
                values,
                trend="add",
                damped_trend=True,
                seasonal="add" if season else None,
                seasonal_periods=season,
            ).fit()
        misses = Smoothing.fit(values, season).forecast(values, 1)[:-1] - values[1:]
        ratios.append(float((misses[20:] ** 2).sum() / ((searched.fittedvalues - values)[21:] ** 2).sum()))
    assert np.mean(ratios) < 1.05


@pytest.mark.parametrize("season", [7, None])
def test_smoothing_uses_no_later_row(season):
    values = sales(200)
    learned = Smoothing.fit(values[:120], season)
    whole = learned.forecast(values, 5)
    np.testing.assert_array_equal(learned.forecast(values[:150], 5), whole[:150])


def shops(count: int) -> tuple[pd.DataFrame, pd.DataFrame, Problem]:
    tables = [
        pd.DataFrame(
            {
                "day": pd.date_range("2023-01-01", periods=400),
                "shop": f"s{place}",
                "sold": sales(seed=place) * (place + 1),
            }
        )
        for place in range(count)
    ]
    table = pd.concat(tables).sort_values(["day", "shop"]).reset_index(drop=True)
    cut = 320 * count
    problem = Problem(
        "sold",
        ProblemKind.REGRESSION,
        "mae",
        time_column="day",
        group_column="shop",
        horizon=2,
        outlook=Outlook.VALUE,
    )
    return table.iloc[:cut].reset_index(drop=True), table.iloc[cut:].reset_index(drop=True), problem


def test_each_series_is_forecast_from_its_own_past():
    train, holdout, problem = shops(2)
    said = forecast_references(train, holdout, problem).forecasts
    assert set(said) == {
        "last value",
        "drift",
        "the value 7 rows before",
        "exponential smoothing",
        "best classical methods",
    }
    truth = holdout.groupby("shop").sold.shift(-2)
    errors = {name: float((truth - forecast).abs().mean()) for name, forecast in said.items()}
    assert errors["exponential smoothing"] < errors["the value 7 rows before"] < errors["last value"]
    one = holdout.shop == "s1"
    alone = forecast_references(train[train.shop == "s1"], holdout[one], problem).forecasts
    for name, forecast in alone.items():
        if name == "best classical methods":
            continue  # chosen for all series together
        np.testing.assert_allclose(said[name][one.to_numpy()], forecast)


def test_the_chosen_methods_have_bounds_on_the_holdout_that_training_rows_tell():
    train, holdout, problem = shops(2)
    references = forecast_references(train, holdout, problem)
    forecast = references.forecasts["best classical methods"]
    assert references.low is not None
    assert references.high is not None
    assert (references.low < forecast).all()
    assert (forecast < references.high).all()
    truth = holdout.groupby("shop").sold.shift(-2).to_numpy()
    facts = evaluate_methods(
        predict_by_methods(truth[:-4], references.take(slice(None, -4)), problem),
        references.take(slice(None, -4)),
        Predicted.from_problem(problem, truth[:-4], np.full(len(truth) - 4, train.sold.mean())),
        problem,
        seed=1,
        units=IndependentUnits.of_rows(len(truth) - 4),
    )
    assert facts["metrics"]["mae"]["value"] == pytest.approx(np.abs(truth - forecast)[:-4].mean(), rel=1e-4)
    assert facts["beats_baseline"]
    assert facts["intervals"] is not None
    assert 0.8 < facts["intervals"]["coverage"]["value"] <= 1


def test_methods_make_no_forecast_of_a_single_later_row():
    _, _, problem = shops(1)
    worse = [{"name": "best classical methods", "score": 1.0, "difference": {"value": -1.0}}]
    assert recommend(worse, "Ridge", problem) == {"name": "Ridge", "is_model": True}
    every = replace(problem, every_step=True)
    assert recommend(worse, "Ridge", every) == {"name": "best classical methods", "is_model": False}


def test_references_learn_a_level_that_the_holdout_begins():
    values = np.where(np.arange(160) > 110, 60.0, 40.0) + np.random.default_rng(1).normal(0, 2, 160)
    table = pd.DataFrame({"day": pd.date_range("2023-01-01", periods=160), "shop": "s", "sold": values})
    _, _, problem = shops(1)
    forecast = forecast_references(table.iloc[:100], table.iloc[100:], problem).forecasts[
        "exponential smoothing"
    ][:-2]
    once = Smoothing.fit(values[:100], 7).forecast(values, 2)[100:-2]
    later = slice(30, None)
    errors = [np.abs(path - values[102:])[later].mean() for path in (forecast, once)]
    assert errors[0] < errors[1]


def test_many_series_are_not_smoothed_and_classes_have_no_references():
    train, holdout, problem = shops(21)
    names = set(forecast_references(train, holdout, problem).forecasts)
    assert names == {"last value", "drift", "the value 7 rows before", "best classical methods"}
    asked = Problem("sold", ProblemKind.CLASSIFICATION, "roc_auc", ("down", "up"), time_column="day", horizon=2)
    assert forecast_references(train, holdout, asked).forecasts == {}


def test_a_model_no_better_than_the_last_season_gets_a_note():
    train, holdout, problem = shops(1)
    truth = holdout.sold.shift(-2).to_numpy()[:-2]
    said = {name: each[:-2] for name, each in forecast_references(train, holdout, problem).forecasts.items()}
    chance = np.random.default_rng(0)
    near = said["the value 7 rows before"] + chance.normal(0, 0.1, len(truth))
    poor = Predicted.from_problem(problem, truth, near)
    judged = compare_with_references(poor, said, problem, 0, None)
    assert [each["score"] for each in judged] == sorted(each["score"] for each in judged)
    [note] = reference_notes(judged)
    assert "the value 7 rows before" in note
    assert "exponential smoothing" in note
    assert "last value" not in note
    assert (
        reference_notes(
            compare_with_references(
                Predicted.from_problem(problem, truth, truth + 0.01), said, problem, 0, None
            )
        )
        == []
    )
