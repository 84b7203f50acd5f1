"""Words for missing, for yes and for no; numbers that stand for missing."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.labels.resolve_problem import define
from app.modeling.type_inference.decisions import decide, decide_reading
from app.modeling.type_inference.parsers import apply_reading


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


MESSY = ["Yes", "yes ", "YES", "No", "no", " no"] * 10


def test_classes_in_several_spellings_are_one_and_that_is_said() -> None:
    frame = pd.DataFrame(
        {"city": ["Berlin", "berlin ", "PARIS", "Paris", "Paris", "New  York", "new york"] * 5}
    )
    (decision,) = decide(frame)
    read = apply_reading(frame, decide_reading(frame))["city"]
    assert set(read) == {"Berlin", "Paris", "New York"}
    assert "'PARIS' as 'Paris'" in decision.text
    assert decision.evidence["spelled"]["PARIS"] == 5


def test_the_classes_of_a_target_are_merged_and_named_by_any_spelling() -> None:
    frame = pd.DataFrame({"churn": MESSY, "age": range(60)})
    read = apply_reading(frame, decide_reading(frame, "churn"))
    problem = define(read, {"target": "churn", "positive_class": " YES"})
    assert sorted(str(one).casefold() for one in problem.classes or ()) == ["no", "yes"]
    assert str(problem.positive_class).casefold() == "yes"


def test_a_new_spelling_of_a_known_class_is_read_as_that_class() -> None:
    reading = decide_reading(pd.DataFrame({"churn": MESSY}), "churn")
    said = apply_reading(pd.DataFrame({"churn": ["yES", "nO ", "perhaps"]}), reading)["churn"]
    assert [str(one).casefold() for one in said] == ["yes", "no", "perhaps"]
    assert set(said[:2]) <= set(apply_reading(pd.DataFrame({"churn": MESSY}), reading)["churn"])


@pytest.mark.parametrize(
    "values",
    [
        ["A", "a", "B", "b"] * 20,
        ["CO", "Co", "NO"] * 20,
        ["red", "green", "blue"] * 20,
        [f"Name {place}" for place in range(50)] + [f"name {place}" for place in range(10)],
    ],
)
def test_what_may_be_two_things_stays_two(values: list[str]) -> None:
    assert decide(pd.DataFrame({"code": values})) == []


def test_a_rare_slip_in_a_short_code_is_mended() -> None:
    frame = pd.DataFrame({"code": ["M"] * 30 + ["F"] * 30 + ["m"] * 2})
    assert set(apply_reading(frame, decide_reading(frame))["code"]) == {"M", "F"}
