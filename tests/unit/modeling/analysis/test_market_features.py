"""Features of markets: none sees a later row, and later rows get what they would have had in one table."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.analysis.recipe_effects import apply_recipe, extend_recipe
from app.modeling.analysis.suggested_features import suggest_features
from app.modeling.problem.kinds import Outlook, ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import make_recipe

ROWS = 160
ASKED = Problem(
    "close",
    ProblemKind.CLASSIFICATION,
    "roc_auc",
    ("down", "up"),
    "up",
    "ts",
    "coin",
    horizon=3,
    outlook=Outlook.DIRECTION,
)


def market(coins: int = 2, rows: int = ROWS) -> pd.DataFrame:
    chance = np.random.default_rng(coins)
    made = []
    for place in range(coins):
        close = 10.0 ** (place + 1) * np.exp(np.cumsum(chance.normal(0, 0.01, rows)))
        opened = np.concatenate([[close[0]], close[:-1]])
        wide = 1 + np.abs(chance.normal(0, 0.003, rows))
        made.append(
            pd.DataFrame(
                {
                    "ts": pd.date_range("2025-01-01", periods=rows, freq="h"),
                    "coin": "ABC"[place],
                    "open": opened,
                    "high": np.maximum(opened, close) * wide,
                    "low": np.minimum(opened, close) / wide,
                    "close": close,
                    "volume": chance.lognormal(3, 0.5, rows),
                }
            )
        )
    return pd.concat(made).sort_values(["ts", "coin"]).reset_index(drop=True)


def test_bars_of_several_coins_suggest_volatility_and_cross_features():
    frame = market()
    recipe = suggest_features(frame, ASKED, [1, 3])
    assert {"volatility", "cross", "lags", "changes", "rolling"} <= {step["op"] for step in recipe}
    made, facts = extend_recipe(frame, ASKED, [], recipe)
    assert {"parkinson_12", "garman_klass_48", "others_1", "beside_3", "volume_change1"} <= set(made)
    assert any("of the other series at the same time" in effect for effect in facts["effects"])


@pytest.mark.parametrize("moments", [60, 97, 140])
def test_cutting_the_future_off_changes_no_past_feature(moments):
    frame = market()
    recipe = suggest_features(frame, ASKED, [1, 5])
    recipe.append({"op": "indicators", "names": ["RSI_14", "MACD", "ATR_14", "OBV", "BBANDS_20"]})
    whole = apply_recipe(frame, ASKED, recipe)
    pd.testing.assert_frame_equal(apply_recipe(frame.head(2 * moments), ASKED, recipe), whole.head(2 * moments))


def test_rows_that_come_later_get_the_features_that_they_would_have_had_in_one_table():
    frame = market()
    steps = [step for step in suggest_features(frame, ASKED, [1, 3]) if step["op"] in ("volatility", "cross")]
    whole = make_recipe(ASKED, steps).fit_transform(frame)
    learned = make_recipe(ASKED, steps).fit(frame.iloc[:240])
    pd.testing.assert_frame_equal(learned.transform(frame.iloc[240:]), whole.iloc[240:], rtol=1e-9)


def test_cross_features_use_all_other_coins():
    frame = market(coins=3)
    made = apply_recipe(frame, ASKED, [{"op": "cross", "column": "close", "time": "ts", "periods": [2]}])
    change = frame.groupby("coin").close.pct_change(2)
    at = frame.ts == frame.ts.iloc[-1]
    own = change[at & (frame.coin == "A")].iloc[0]
    others = change[at & (frame.coin != "A")].mean()
    last = made[at & (frame.coin == "A")].iloc[0]
    assert last["others_2"] == pytest.approx(others)
    assert last["beside_2"] == pytest.approx(own - others)


def test_a_single_coin_has_no_cross_features():
    frame = market(coins=1)
    made = apply_recipe(frame, ASKED, [{"op": "cross", "column": "close", "time": "ts"}])
    assert made["others_1"].isna().all()
