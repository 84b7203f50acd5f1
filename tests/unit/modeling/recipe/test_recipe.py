"""A recipe learns from training rows only, and looks back without looking ahead."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.modeling.analysis.preview import extend, normalized
from app.modeling.recipe.recipe import Recipe, make_recipe, parse_recipe

from ..frames import people, problem, series

LOOK_BACK: list[dict[str, Any]] = [
    {"op": "lags", "columns": ["sales"], "periods": [1, 2]},
    {"op": "rolling", "columns": ["sales"], "windows": [3], "statistics": ["mean", "std", "min", "max"]},
    {"op": "changes", "columns": ["sales"], "periods": [1]},
]
EVERY = [
    {"op": "drop", "columns": ["junk"]},
    {"op": "to_number", "columns": ["paid"]},
    {"op": "to_category", "columns": ["code"]},
    {"op": "merge_spellings", "columns": ["plan"]},
    {"op": "group_rare", "columns": ["plan"], "min_share": 0.2},
    {"op": "frequency", "columns": ["city"]},
    {"op": "parse_dates", "columns": ["born"]},
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
            "age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(40, 10, rows)),
            "note": rng.choice(["Smith, Mr John bought apples", "Roe, Mrs Jane sold pears", "Dr Who"], rows),
            "y": rng.integers(0, 2, rows),
        }
    )


def test_every_operation_keeps_the_rows_and_learns_only_from_training_rows() -> None:
    frame = mixed()
    asked = problem(frame, "y")
    inputs = frame.drop(columns="y")
    recipe = make_recipe(asked, EVERY)
    made = recipe.fit_transform(inputs.iloc[:40])
    assert made.index.tolist() == list(range(40))
    later = inputs.iloc[40:]
    alone = pd.concat([recipe.transform(later.iloc[[place]]) for place in range(len(later))])
    pd.testing.assert_frame_equal(recipe.transform(later), alone, check_dtype=False)
    pd.testing.assert_frame_equal(recipe.transform(inputs.iloc[:40]), made, check_dtype=False)
    json.dumps(recipe.states_, allow_nan=False)


def test_a_recipe_says_what_it_does() -> None:
    frame = mixed()
    made, facts = extend(frame, problem(frame, "y"), [], EVERY)
    assert len(facts["effects"]) == len(EVERY)
    assert "Left out junk." in facts["effects"]
    assert "junk" in facts["dropped_columns"]
    assert {"age_missing", "born_month", "note_title", "paid_ratio_age"} <= set(facts["new_columns"])
    assert len(made) == len(frame)
    assert normalized(facts["recipe"]) == facts["recipe"]


@given(cut=st.integers(20, 90), shops=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_rows_that_come_later_get_the_features_they_would_have_had_in_one_table(cut: int, shops: int) -> None:
    frame = series(100, shops=shops)
    asked = problem(frame, "sales", horizon=1, time_column="day", group_column="shop" if shops > 1 else None)
    indicators = [{"op": "indicators", "close": "sales"}]
    whole = make_recipe(asked, LOOK_BACK + indicators).fit_transform(frame)
    before, after = frame.iloc[: cut * shops], frame.iloc[cut * shops :]
    recipe = make_recipe(asked, LOOK_BACK + indicators).fit(before)
    pd.testing.assert_frame_equal(recipe.transform(after), whole.loc[after.index], rtol=1e-6)


def test_the_future_of_a_row_never_changes_its_features() -> None:
    frame = series(100)
    asked = problem(frame, "sales", horizon=1, time_column="day")
    operations = [*LOOK_BACK, {"op": "indicators", "close": "sales"}]
    made = make_recipe(asked, operations).fit_transform(frame)
    changed = frame.assign(sales=frame["sales"].where(frame.index < 60, -1000.0))
    remade = make_recipe(asked, operations).fit_transform(changed)
    pd.testing.assert_frame_equal(made.iloc[:60], remade.iloc[:60])


def test_no_look_back_crosses_from_one_group_to_another() -> None:
    frame = series(30, shops=2)
    asked = problem(frame, "sales", horizon=1, time_column="day", group_column="shop")
    made = make_recipe(asked, LOOK_BACK).fit_transform(frame)
    first_of_each = frame.groupby("shop").head(1).index
    assert made.loc[first_of_each, "sales_lag1"].isna().all()
    second = frame.index[frame["shop"] == "shop 1"][1]
    first = frame.index[frame["shop"] == "shop 1"][0]
    assert made.loc[second, "sales_lag1"] == frame.loc[first, "sales"]


def test_rows_in_any_order_get_the_same_features() -> None:
    frame = series(50)
    asked = problem(frame, "sales", horizon=1, time_column="day")
    made = make_recipe(asked, LOOK_BACK).fit_transform(frame)
    mixed_up = make_recipe(asked, LOOK_BACK).fit_transform(frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(mixed_up.sort_index(), made)


@pytest.mark.parametrize(
    ("operation", "words"),
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
def test_a_wrong_operation_is_refused_by_name(operation: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        parse_recipe([operation])
    assert caught.value.code == "bad_recipe"


def test_a_look_back_without_time_is_refused() -> None:
    frame = people()
    with pytest.raises(InvalidInput) as caught:
        make_recipe(problem(frame, "left"), [{"op": "lags", "columns": ["age"]}])
    assert caught.value.code == "order_needed"


def test_an_unknown_column_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="Did you mean age") as caught:
        Recipe([{"op": "clip", "columns": ["Age"]}]).fit(people())
    assert caught.value.code == "unknown_column"


def test_the_target_cannot_be_an_input() -> None:
    frame = people()
    with pytest.raises(InvalidInput) as caught:
        extend(frame, problem(frame, "left"), [], [{"op": "frequency", "columns": ["left"]}])
    assert caught.value.code == "unknown_column"


def test_a_row_that_the_model_has_seen_is_not_its_own_past() -> None:
    frame = series(60, shops=2)
    asked = problem(frame, "sales", horizon=1, time_column="day", group_column="shop")
    recipe = make_recipe(asked, [{"op": "lags", "columns": ["sales"], "periods": [1]}]).fit(frame)
    again = recipe.transform(frame)
    fresh = frame.groupby("shop")["sales"].shift(1)
    assert again["sales_lag1"].equals(fresh)
    last = frame.tail(2)
    assert recipe.transform(last)["sales_lag1"].tolist() != last["sales"].tolist()
