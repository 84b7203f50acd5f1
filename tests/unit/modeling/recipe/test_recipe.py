"""Recipes: fitted on training rows only, with history and without the future."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.modeling.analysis.recipe_effects import extend_recipe, normalize_recipe
from app.modeling.recipe.recipe import Recipe, make_recipe, parse_recipe

from ..frames import people, problem, series

LOOK_BACK: list[dict[str, Any]] = [
    {"op": "lags", "columns": ["sales"], "periods": [1, 2]},
    {"op": "rolling", "columns": ["sales"], "windows": [3], "statistics": ["mean", "std", "min", "max"]},
    {"op": "changes", "columns": ["sales"], "periods": [1]},
]
ALL_OPERATIONS = [
    {"op": "drop", "columns": ["junk"]},
    {"op": "to_number", "columns": ["paid"]},
    {"op": "to_category", "columns": ["code"]},
    {"op": "merge_spellings", "columns": ["plan"]},
    {"op": "group_rare", "columns": ["plan"], "min_share": 0.2},
    {"op": "frequency", "columns": ["city"]},
    {"op": "days_between", "pairs": [["seen", "born"]]},
    {"op": "parse_dates", "columns": ["born", "seen"]},
    {"op": "elapsed", "column": "code"},
    {"op": "mark_missing", "columns": ["age"]},
    {"op": "impute", "columns": ["age", "city"]},
    {"op": "clip", "columns": ["age"]},
    {"op": "log1p", "columns": ["paid"]},
    {"op": "combine", "how": "ratio", "pairs": [["paid", "age"]]},
    {"op": "text_stats", "columns": ["note"]},
    {"op": "extract", "columns": ["note"], "what": "title"},
    {"op": "tfidf", "columns": ["note"], "most": 5},
]


def mixed(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "junk": rng.random(rows),
            "paid": [f"$1,{amount:03d}.50" for amount in rng.integers(0, 999, rows)],
            "code": rng.integers(0, 4, rows),
            "plan": rng.choice(["Basic", "basic ", "Pro", "Gold"], rows, p=[0.5, 0.2, 0.25, 0.05]),
            "city": rng.choice(["Ulm", "Bonn", "Kiel", None], rows),
            "born": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9999, rows), "D"),
            "seen": [f"{day}/04/2024" for day in rng.integers(1, 29, rows)],
            "age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(40, 10, rows)),
            "note": rng.choice(["Smith, Mr John bought apples", "Roe, Mrs Jane sold pears", "Dr Who"], rows),
            "y": rng.integers(0, 2, rows),
        }
    )


def test_every_operation_keeps_the_rows_and_transforms_each_row_by_itself() -> None:
    frame = mixed()
    target_problem = problem(frame, "y")
    inputs = frame.drop(columns="y")
    recipe = make_recipe(target_problem, ALL_OPERATIONS)
    training = recipe.fit_transform(inputs.iloc[:40])
    assert training.index.tolist() == list(range(40))
    later = inputs.iloc[40:]
    row_by_row = pd.concat([recipe.transform(later.iloc[[position]]) for position in range(len(later))])
    pd.testing.assert_frame_equal(recipe.transform(later), row_by_row, check_dtype=False)
    pd.testing.assert_frame_equal(recipe.transform(inputs.iloc[:40]), training, check_dtype=False)
    json.dumps(recipe.states_, allow_nan=False)


def test_the_facts_of_a_recipe_describe_every_operation() -> None:
    frame = mixed()
    extended, facts = extend_recipe(frame, problem(frame, "y"), [], ALL_OPERATIONS)
    assert len(facts["effects"]) == len(ALL_OPERATIONS)
    assert "Left out junk." in facts["effects"]
    assert "junk" in facts["dropped_columns"]
    assert {"age_missing", "born_month", "note_title", "paid_ratio_age", "seen_since_born"} <= set(
        facts["new_columns"]
    )
    assert len(extended) == len(frame)
    assert normalize_recipe(facts["recipe"]) == facts["recipe"]


@given(cut=st.integers(20, 90), shops=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_later_rows_get_the_same_features_as_in_one_table(cut: int, shops: int) -> None:
    frame = series(100, shops=shops)
    forecast = problem(frame, "sales", horizon=1, time_column="day", group_column="shop" if shops > 1 else None)
    indicators = [{"op": "indicators", "close": "sales"}]
    joint = make_recipe(forecast, LOOK_BACK + indicators).fit_transform(frame)
    earlier, later = frame.iloc[: cut * shops], frame.iloc[cut * shops :]
    recipe = make_recipe(forecast, LOOK_BACK + indicators).fit(earlier)
    pd.testing.assert_frame_equal(recipe.transform(later), joint.loc[later.index], rtol=1e-6)


def test_features_do_not_depend_on_later_rows() -> None:
    frame = series(100)
    forecast = problem(frame, "sales", horizon=1, time_column="day")
    operations = [*LOOK_BACK, {"op": "indicators", "close": "sales"}]
    features = make_recipe(forecast, operations).fit_transform(frame)
    changed = frame.assign(sales=frame["sales"].where(frame.index < 60, -1000.0))
    changed_features = make_recipe(forecast, operations).fit_transform(changed)
    pd.testing.assert_frame_equal(features.iloc[:60], changed_features.iloc[:60])


def test_history_never_crosses_groups() -> None:
    frame = series(30, shops=2)
    forecast = problem(frame, "sales", horizon=1, time_column="day", group_column="shop")
    features = make_recipe(forecast, LOOK_BACK).fit_transform(frame)
    first_of_each = frame.groupby("shop").head(1).index
    assert features.loc[first_of_each, "sales_lag1"].isna().all()
    second = frame.index[frame["shop"] == "shop 1"][1]
    first = frame.index[frame["shop"] == "shop 1"][0]
    assert features.loc[second, "sales_lag1"] == frame.loc[first, "sales"]


def test_rows_in_any_order_get_the_same_features() -> None:
    frame = series(50)
    forecast = problem(frame, "sales", horizon=1, time_column="day")
    features = make_recipe(forecast, LOOK_BACK).fit_transform(frame)
    shuffled = make_recipe(forecast, LOOK_BACK).fit_transform(frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(shuffled.sort_index(), features)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "explode"}, "Operation 0"),
        ({"op": "clip"}, "columns"),
        ({"op": "clip", "columns": ["age"], "colour": "red"}, "colour"),
        ({"op": "lags", "columns": ["age"], "periods": "many"}, "periods"),
        ({"op": "lags", "columns": ["age"], "periods": [-1]}, "periods"),
        ({"op": "rolling", "columns": ["age"], "windows": [0]}, "windows"),
        ({"op": "clip", "columns": ["age"], "lower": 0.9, "upper": 0.1}, "lower"),
    ],
)
def test_an_invalid_operation_is_refused_with_its_field(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        parse_recipe([operation])
    assert caught.value.code == "bad_recipe"


def test_lags_without_a_time_column_are_refused() -> None:
    frame = people()
    with pytest.raises(InvalidInput) as caught:
        make_recipe(problem(frame, "left"), [{"op": "lags", "columns": ["age"]}])
    assert caught.value.code == "order_needed"


def test_an_unknown_column_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="Did you mean age") as caught:
        Recipe([{"op": "clip", "columns": ["Age"]}]).fit(people())
    assert caught.value.code == "unknown_column"


def test_the_target_cannot_be_an_input() -> None:
    frame = people()
    with pytest.raises(InvalidInput) as caught:
        extend_recipe(frame, problem(frame, "left"), [], [{"op": "frequency", "columns": ["left"]}])
    assert caught.value.code == "unknown_column"


def test_training_rows_are_not_their_own_history() -> None:
    frame = series(60, shops=2)
    forecast = problem(frame, "sales", horizon=1, time_column="day", group_column="shop")
    recipe = make_recipe(forecast, [{"op": "lags", "columns": ["sales"], "periods": [1]}]).fit(frame)
    features = recipe.transform(frame)
    expected = frame.groupby("shop")["sales"].shift(1)
    assert features["sales_lag1"].equals(expected)
    last = frame.tail(2)
    assert recipe.transform(last)["sales_lag1"].tolist() != last["sales"].tolist()
