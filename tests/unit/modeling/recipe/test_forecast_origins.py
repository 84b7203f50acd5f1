"""Rows of forecasts of every step: labels, folds, features and order."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.analysis.suggested_features import suggest_ahead_features, suggest_features
from app.modeling.labels.labels import label_times, make_labels
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.forecast_steps import MAX_STACKED_ROWS, steps_per_origin, training_steps
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import (
    ORIGIN_ROW,
    ROWS_AHEAD,
    collapse_origins,
    expand_horizon_rows,
    prediction_rows,
)
from app.modeling.recipe.recipe import make_recipe, select_inputs
from app.modeling.splits.split import make_folds

EVERY_STEP = Problem(
    target="sold",
    kind=ProblemKind.REGRESSION,
    metric="mae",
    time_column="day",
    group_column="shop",
    horizon=5,
    every_step=True,
    outlook=Outlook.VALUE,
)


def sales(days: int = 120) -> pd.DataFrame:
    """Two shops, a row a day each, weekly seasons that differ."""
    rng, day = np.random.default_rng(3), np.arange(days)
    parts = [
        pd.DataFrame(
            {
                "day": pd.date_range("2024-01-01", periods=days),
                "shop": shop,
                "sold": 50 + 10 * number + 9 * np.sin(2 * np.pi * (day + number) / 7) + rng.normal(0, 1, days),
            }
        )
        for number, shop in enumerate(("a", "b"))
    ]
    return pd.concat(parts).sort_values("day", kind="stable").reset_index(drop=True)


def test_labels_of_every_step_equal_labels_of_single_steps():
    table = sales()
    stacked = prediction_rows(table, EVERY_STEP)
    labels, times = make_labels(stacked, EVERY_STEP), label_times(stacked, EVERY_STEP)
    for step in range(1, 6):
        single = replace(EVERY_STEP, every_step=False, horizon=step)
        at = stacked[ROWS_AHEAD] == step
        np.testing.assert_allclose(labels[at], make_labels(table, single))
        assert (times[at].to_numpy() == label_times(table, single).to_numpy())[: -2 * step].all()


def test_any_subset_of_rows_collapses_to_its_origins_in_order():
    table = sales(20)
    stacked = expand_horizon_rows(table, 5)
    assert len(stacked) == 5 * len(table)
    subset = stacked.iloc[[11, 3, 12, 90]]
    origins, positions = collapse_origins(subset)
    assert list(origins.columns) == list(table.columns)
    pd.testing.assert_frame_equal(
        origins.iloc[positions].reset_index(drop=True), table.iloc[subset[ORIGIN_ROW]].reset_index(drop=True)
    )


def test_training_labels_of_a_fold_are_known_before_its_test_rows():
    stacked = prediction_rows(sales(), EVERY_STEP)
    known_at = label_times(stacked, EVERY_STEP).to_numpy()
    for fold in make_folds(stacked, EVERY_STEP, FoldPlan(SplitKind.TIME, 4)):
        assert (known_at[fold.train] < stacked["day"].to_numpy()[fold.test].min()).all()


def test_features_do_not_depend_on_later_rows():
    table = sales()
    recipe = make_recipe(EVERY_STEP, suggest_features(table, EVERY_STEP, [1, 2]))
    early = table[table["day"] < "2024-03-20"].reset_index(drop=True)
    all_features = recipe.fit_transform(select_inputs(prediction_rows(table, EVERY_STEP), EVERY_STEP))
    early_features = recipe.fit_transform(select_inputs(prediction_rows(early, EVERY_STEP), EVERY_STEP))
    assert {ROWS_AHEAD, "ahead_weekday", "sold_place1", "sold_level8", "sold_lag1"} <= set(all_features)
    assert ORIGIN_ROW not in all_features
    pd.testing.assert_frame_equal(all_features.head(len(early_features)), early_features)


def test_seasonal_features_belong_to_the_time_that_is_forecast():
    table = sales()
    [ahead] = suggest_ahead_features(table, EVERY_STEP)
    assert (ahead["season"], ahead["unit"]) == (7, "second")
    stacked = select_inputs(prediction_rows(table, EVERY_STEP), EVERY_STEP)
    features = make_recipe(EVERY_STEP, [ahead]).fit_transform(stacked)
    sold = {(row.day, row.shop): row.sold for row in table.itertuples()}
    for position in (700, 703, 1003):
        row, step = stacked.iloc[position], int(stacked[ROWS_AHEAD].iloc[position])
        forecast_time = row["day"] + pd.Timedelta(days=step)
        season_earlier = sold[forecast_time - pd.Timedelta(days=7), row["shop"]]
        assert features["sold_place1"].iloc[position] == pytest.approx(season_earlier - row["sold"])
        assert features["ahead_weekday"].iloc[position] == forecast_time.day_of_week


def test_later_rows_use_the_stored_history():
    table = sales()
    stacked = select_inputs(prediction_rows(table, EVERY_STEP), EVERY_STEP)
    training, later = stacked[stacked["day"] < "2024-04-20"], stacked[stacked["day"] >= "2024-04-20"]
    operations = suggest_features(table, EVERY_STEP, [1, 2])
    separate = make_recipe(EVERY_STEP, operations).fit(training).transform(later)
    joint = make_recipe(EVERY_STEP, operations).fit_transform(stacked).loc[later.index]
    pd.testing.assert_frame_equal(separate, joint)


def test_long_horizons_are_trained_on_spaced_steps_and_many_rows_on_some_steps_each(monkeypatch):
    steps = training_steps(168)
    assert (steps[0], steps[-1], len(steps)) == (1, 168, 24)
    assert steps_per_origin(MAX_STACKED_ROWS // 4, 24) == 4
    monkeypatch.setattr("app.modeling.problem.forecast_steps.MAX_STACKED_ROWS", 80)
    stacked = expand_horizon_rows(sales(20), 5)
    assert len(stacked) == 80
    assert set(stacked[ROWS_AHEAD]) == {1, 2, 3, 4, 5}
    assert (stacked.groupby(ORIGIN_ROW)[ROWS_AHEAD].nunique() == 2).all()


def test_a_reserved_column_name_is_refused():
    with pytest.raises(InvalidInput, match="rows_ahead"):
        prediction_rows(sales().rename(columns={"shop": ROWS_AHEAD}), EVERY_STEP)
