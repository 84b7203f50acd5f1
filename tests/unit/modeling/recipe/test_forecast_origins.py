"""Rows of every step ahead say what the table says, and nothing of its future."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.analysis.suggested_features import ahead_features, suggest_features
from app.modeling.labels.labels import label_times, make_labels
from app.modeling.labels.split import FoldPlan, SplitKind, folds
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

EVERY = Problem(
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
    chance, day = np.random.default_rng(3), np.arange(days)
    parts = [
        pd.DataFrame(
            {
                "day": pd.date_range("2024-01-01", periods=days),
                "shop": shop,
                "sold": 50 + 10 * place + 9 * np.sin(2 * np.pi * (day + place) / 7) + chance.normal(0, 1, days),
            }
        )
        for place, shop in enumerate(("a", "b"))
    ]
    return pd.concat(parts).sort_values("day", kind="stable").reset_index(drop=True)


def test_labels_of_every_step_are_those_of_each_step_alone():
    table = sales()
    stacked = prediction_rows(table, EVERY)
    said, times = make_labels(stacked, EVERY), label_times(stacked, EVERY)
    for step in range(1, 6):
        alone = replace(EVERY, every_step=False, horizon=step)
        at = stacked[ROWS_AHEAD] == step
        np.testing.assert_allclose(said[at], make_labels(table, alone))
        assert (times[at].to_numpy() == label_times(table, alone).to_numpy())[: -2 * step].all()


def test_origins_come_back_in_their_order_from_any_part_of_the_rows():
    table = sales(20)
    stacked = expand_horizon_rows(table, 5)
    assert len(stacked) == 5 * len(table)
    part = stacked.iloc[[11, 3, 12, 90]]
    once, back = collapse_origins(part)
    assert list(once.columns) == list(table.columns)
    pd.testing.assert_frame_equal(
        once.iloc[back].reset_index(drop=True), table.iloc[part[ORIGIN_ROW]].reset_index(drop=True)
    )


def test_no_fold_learns_from_a_label_that_its_test_rows_have_not_waited_for():
    stacked = prediction_rows(sales(), EVERY)
    known_at = label_times(stacked, EVERY).to_numpy()
    for fold in folds(stacked, EVERY, FoldPlan(SplitKind.TIME, 4)):
        assert (known_at[fold.train] < stacked["day"].to_numpy()[fold.test].min()).all()


def test_features_of_a_row_do_not_change_when_the_future_is_cut_off():
    table = sales()
    recipe = make_recipe(EVERY, suggest_features(table, EVERY, [1, 2]))
    early = table[table["day"] < "2024-03-20"].reset_index(drop=True)
    whole = recipe.fit_transform(select_inputs(prediction_rows(table, EVERY), EVERY))
    part = recipe.fit_transform(select_inputs(prediction_rows(early, EVERY), EVERY))
    assert {ROWS_AHEAD, "ahead_weekday", "sold_place1", "sold_level8", "sold_lag1"} <= set(whole)
    assert ORIGIN_ROW not in whole
    pd.testing.assert_frame_equal(whole.head(len(part)), part)


def test_the_place_in_the_season_is_that_of_the_moment_that_is_forecast():
    table = sales()
    [ahead] = ahead_features(table, EVERY)
    assert (ahead["season"], ahead["unit"]) == (7, "second")
    stacked = select_inputs(prediction_rows(table, EVERY), EVERY)
    made = make_recipe(EVERY, [ahead]).fit_transform(stacked)
    value = {(row.day, row.shop): row.sold for row in table.itertuples()}
    for place in (700, 703, 1003):
        row, step = stacked.iloc[place], int(stacked[ROWS_AHEAD].iloc[place])
        then = row["day"] + pd.Timedelta(days=step)
        before = value[then - pd.Timedelta(days=7), row["shop"]]
        assert made["sold_place1"].iloc[place] == pytest.approx(before - row["sold"])
        assert made["ahead_weekday"].iloc[place] == then.day_of_week


def test_later_rows_are_looked_back_from_with_what_the_recipe_remembers():
    table = sales()
    stacked = select_inputs(prediction_rows(table, EVERY), EVERY)
    taught, later = stacked[stacked["day"] < "2024-04-20"], stacked[stacked["day"] >= "2024-04-20"]
    operations = suggest_features(table, EVERY, [1, 2])
    apart = make_recipe(EVERY, operations).fit(taught).transform(later)
    together = make_recipe(EVERY, operations).fit_transform(stacked).loc[later.index]
    pd.testing.assert_frame_equal(apart, together)


def test_a_long_way_is_learned_in_steps_and_very_many_rows_in_turn(monkeypatch):
    steps = training_steps(168)
    assert (steps[0], steps[-1], len(steps)) == (1, 168, 24)
    assert steps_per_origin(MAX_STACKED_ROWS // 4, 24) == 4
    monkeypatch.setattr("app.modeling.problem.forecast_steps.MAX_STACKED_ROWS", 80)
    stacked = expand_horizon_rows(sales(20), 5)
    assert len(stacked) == 80
    assert set(stacked[ROWS_AHEAD]) == {1, 2, 3, 4, 5}
    assert (stacked.groupby(ORIGIN_ROW)[ROWS_AHEAD].nunique() == 2).all()


def test_a_table_whose_column_has_the_name_of_the_step_is_refused():
    with pytest.raises(InvalidInput, match="rows_ahead"):
        prediction_rows(sales().rename(columns={"shop": ROWS_AHEAD}), EVERY)
