"""Words for missing, for yes and for no; numbers that stand for missing."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.reading.decisions import decide, decide_reading
from app.modeling.reading.operations import apply_reading


@pytest.mark.parametrize(
    "said",
    [("yes", "no"), ("Y", "N"), ("t", "f"), ("ja", "nein"), ("TRUE", "False"), ("on", "off"), ("Oui", "Non")],
)
def test_yes_and_no_are_booleans_in_any_spelling(said: tuple[str, str]) -> None:
    frame = pd.DataFrame({"paid": [said[0], said[1], said[0].upper(), "?"] * 5})
    read = apply_reading(frame, decide_reading(frame))["paid"]
    assert read.tolist()[:3] == [True, False, True]
    assert read.isna().sum() == 5


@pytest.mark.parametrize("said", [("m", "f"), ("n", "s"), ("yes", "maybe"), ("no", "never"), ("y", "x")])
def test_other_pairs_stay_categories(said: tuple[str, str]) -> None:
    assert decide(pd.DataFrame({"word": list(said) * 10})) == []


def test_the_target_keeps_its_classes() -> None:
    frame = pd.DataFrame({"churn": ["yes", "no"] * 10, "paid": ["yes", "no"] * 10})
    assert [one.column for one in decide(frame, "churn")] == ["paid"]


def test_markers_are_missing_among_categories_and_real_words_stay() -> None:
    frame = pd.DataFrame({"fuel": ["gas", "oil", "?", "N/A", "-", "none", "unknown"] * 4})
    read = apply_reading(frame, decide_reading(frame))["fuel"]
    assert set(read.dropna()) == {"gas", "oil", "none", "unknown"}


@pytest.mark.parametrize("values", [["+", "-"], ["DE", "FR", "NA", "US"], ["A", "B", "x"]])
def test_a_marker_that_may_be_a_value_stays(values: list[str]) -> None:
    assert decide(pd.DataFrame({"code": values * 10})) == []


def test_a_number_far_outside_that_repeats_is_missing() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 300).astype("int64")
    age[::20] = -999
    height = rng.normal(170, 10, 300)
    height[::30] = 9999
    frame = pd.DataFrame({"age": age, "height": height})
    read = apply_reading(frame, decide_reading(frame))
    assert (read["age"].isna().sum(), read["height"].isna().sum()) == (15, 10)
    assert read["age"].min() >= 18


def test_extremes_that_are_no_marker_stay() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "once": [*rng.integers(0, 50, 299), 999],
            "inside": [*rng.integers(-2000, 2000, 270), *[-999] * 30],
            "capped": np.minimum(rng.integers(0, 200, 300), 99),
            "round": [*rng.integers(0, 50, 290), *[1000] * 10],
        }
    )
    assert decide(frame) == []


def test_a_class_called_99_stays_a_class() -> None:
    frame = pd.DataFrame({"code": [1, 2, 3, 4, 5, 6, 99] * 20})
    assert decide(frame, "code") == []
