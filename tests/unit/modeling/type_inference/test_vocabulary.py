"""Words for missing values, for yes and for no; numeric codes for missing values."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.problem_definition.resolve_problem import resolve_problem
from app.modeling.type_inference.column_decisions import infer_types
from app.modeling.type_inference.parsers import parse_columns

from .inference import infer_parsers, parse_frame


@pytest.mark.parametrize(
    "words",
    [("yes", "no"), ("Y", "N"), ("t", "f"), ("ja", "nein"), ("TRUE", "False"), ("on", "off"), ("Oui", "Non")],
)
def test_yes_and_no_are_booleans_in_any_spelling(words: tuple[str, str]) -> None:
    frame = pd.DataFrame({"paid": [words[0], words[1], words[0].upper(), "?"] * 5})
    read = parse_frame(frame)["paid"]
    assert read.tolist()[:3] == [True, False, True]
    assert read.isna().sum() == 5


@pytest.mark.parametrize("words", [("m", "f"), ("n", "s"), ("yes", "maybe"), ("no", "never"), ("y", "x")])
def test_other_pairs_stay_categories(words: tuple[str, str]) -> None:
    assert infer_types(pd.DataFrame({"word": list(words) * 10})) == []


def test_the_target_keeps_its_classes() -> None:
    frame = pd.DataFrame({"churn": ["yes", "no"] * 10, "paid": ["yes", "no"] * 10})
    assert [decision.column for decision in infer_types(frame, "churn")] == ["paid"]


def test_missing_value_words_become_missing_and_other_words_stay() -> None:
    frame = pd.DataFrame({"fuel": ["gas", "oil", "?", "N/A", "-", "none", "unknown"] * 4})
    read = parse_frame(frame)["fuel"]
    assert set(read.dropna()) == {"gas", "oil", "none", "unknown"}


@pytest.mark.parametrize("values", [["+", "-"], ["DE", "FR", "NA", "US"], ["A", "B", "x"]])
def test_a_missing_value_word_that_may_be_a_class_stays(values: list[str]) -> None:
    assert infer_types(pd.DataFrame({"code": values * 10})) == []


def test_a_repeated_extreme_number_becomes_missing() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, 300).astype("int64")
    age[::20] = -999
    height = rng.normal(170, 10, 300)
    height[::30] = 9999
    frame = pd.DataFrame({"age": age, "height": height})
    read = parse_frame(frame)
    assert (read["age"].isna().sum(), read["height"].isna().sum()) == (15, 10)
    assert read["age"].min() >= 18


def test_other_extreme_numbers_stay() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "single": [*rng.integers(0, 50, 299), 999],
            "inside": [*rng.integers(-2000, 2000, 270), *[-999] * 30],
            "capped": np.minimum(rng.integers(0, 200, 300), 99),
            "round": [*rng.integers(0, 50, 290), *[1000] * 10],
        }
    )
    assert infer_types(frame) == []


def test_a_class_called_99_stays_a_class() -> None:
    frame = pd.DataFrame({"code": [1, 2, 3, 4, 5, 6, 99] * 20})
    assert infer_types(frame, "code") == []


MESSY = ["Yes", "yes ", "YES", "No", "no", " no"] * 10


def test_spellings_of_one_class_are_merged_and_reported() -> None:
    frame = pd.DataFrame(
        {"city": ["Berlin", "berlin ", "PARIS", "Paris", "Paris", "New  York", "new york"] * 5}
    )
    (decision,) = infer_types(frame)
    read = parse_frame(frame)["city"]
    assert set(read) == {"Berlin", "Paris", "New York"}
    assert "'PARIS' as 'Paris'" in decision.text
    assert decision.evidence["spelled"]["PARIS"] == 5


def test_a_positive_class_in_any_spelling_names_the_merged_class() -> None:
    frame = pd.DataFrame({"churn": MESSY, "age": range(60)})
    read = parse_frame(frame, "churn")
    problem = resolve_problem(read, {"target": "churn", "positive_class": " YES"})
    assert sorted(str(label).casefold() for label in problem.classes or ()) == ["no", "yes"]
    assert str(problem.positive_class).casefold() == "yes"


def test_a_new_spelling_is_parsed_as_its_class() -> None:
    parsers = infer_parsers(pd.DataFrame({"churn": MESSY}), "churn")
    labels = parse_columns(pd.DataFrame({"churn": ["yES", "nO ", "perhaps"]}), parsers)["churn"]
    assert [str(label).casefold() for label in labels] == ["yes", "no", "perhaps"]
    assert set(labels[:2]) <= set(parse_columns(pd.DataFrame({"churn": MESSY}), parsers)["churn"])


@pytest.mark.parametrize(
    "values",
    [
        ["A", "a", "B", "b"] * 20,
        ["CO", "Co", "NO"] * 20,
        ["red", "green", "blue"] * 20,
        [f"Name {number}" for number in range(50)] + [f"name {number}" for number in range(10)],
    ],
)
def test_spellings_that_may_be_different_classes_stay(values: list[str]) -> None:
    assert infer_types(pd.DataFrame({"code": values})) == []


def test_a_rare_spelling_of_a_short_code_is_merged() -> None:
    frame = pd.DataFrame({"code": ["M"] * 30 + ["F"] * 30 + ["m"] * 2})
    assert set(parse_frame(frame)["code"]) == {"M", "F"}


def test_nines_with_a_decimal_are_missing_and_a_price_is_not() -> None:
    rng = np.random.default_rng(0)
    temperature, rain, price = (np.round(rng.uniform(0, 20, 300), 1) for _ in range(3))
    temperature[::20], rain[::30], price[::30] = 999.9, -99.9, 99.99
    read = parse_frame(pd.DataFrame({"temperature": temperature, "rain": rain, "price": price}))
    assert read.isna().sum().tolist() == [15, 10, 0]
