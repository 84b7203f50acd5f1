"""Encodings of each style, learned from training rows only."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from app.modeling.estimators.encoder import Encoder

TRAIN = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 3.0],
        "town": ["Ulm", "Bonn", "Ulm", None],
        "paid": [True, False, True, True],
        "day": pd.date_range("2024-01-01", periods=4),
        "same": [5, 5, 5, 5],
        "empty": [None] * 4,
    }
)
LATER = pd.DataFrame(
    {
        "size": [np.inf, 1e12],
        "town": ["Kiel", "Bonn"],
        "paid": [False, False],
        "day": pd.date_range("2030-01-01", periods=2),
        "same": [1, 2],
        "empty": ["x", "y"],
    }
)


def test_trees_get_missing_values_as_nan_and_categories_by_frequency() -> None:
    encoder = Encoder("tree").fit(TRAIN)
    assert encoder.get_feature_names_out() == ["size", "paid", "town", "day", "day day", "day day_of_week"]
    matrix = encoder.transform(TRAIN)
    assert matrix.dtype == np.float32
    assert matrix[:, 2].tolist()[:3] == [0.0, 1.0, 0.0]
    assert np.isnan(matrix[2, 0])
    assert np.isnan(matrix[3, 2])


def test_linear_models_get_scaled_numbers_ranks_flags_and_one_hot_categories() -> None:
    encoder = Encoder("linear", in_order=True).fit(TRAIN[["size", "town", "day"]])
    names = encoder.get_feature_names_out()
    numbers = ["size", "size rank", "size missing", "day"]
    assert names == [*numbers, "size=1", "size=2", "size=3", "town=Ulm"]
    matrix = encoder.transform(TRAIN)
    assert matrix.shape[1] == len(names)
    assert matrix[:, 0].mean() == pytest.approx(0, abs=1e-6)
    assert matrix[:, 0].std() == pytest.approx(1)
    assert matrix[2, 2] == 1


@pytest.mark.parametrize(("style", "feature"), [("tree", "school count"), ("linear", "school=School 7 North")])
def test_names_of_several_words_are_categories_too_where_they_repeat(style: str, feature: str) -> None:
    schools = pd.Series([f"School {number} North" for number in range(80)], name="school")
    often = Encoder(style).fit(pd.concat([schools] * 3, ignore_index=True).to_frame())
    assert feature in often.get_feature_names_out()
    seldom = Encoder(style).fit(pd.concat([schools] * 2, ignore_index=True).to_frame())
    assert feature not in seldom.get_feature_names_out()
    for encoder in (often, seldom):
        assert encoder.transform(schools.to_frame()).shape == (80, len(encoder.get_feature_names_out()))


def test_in_time_order_only_recurring_calendar_parts_are_encoded() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=100)})
    ordered = Encoder("tree", in_order=True).fit(days).get_feature_names_out()
    assert ordered == ["day", "day day", "day day_of_week"]
    assert "day month" in Encoder("tree").fit(days).get_feature_names_out()


@pytest.mark.parametrize("style", ["tree", "linear", "network"])
def test_unseen_values_are_encoded_as_finite_numbers(style: str) -> None:
    matrix = Encoder(style).fit(TRAIN).transform(LATER)
    matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
    assert matrix.shape[0] == 2
    assert not np.isinf(matrix).any()
    if style != "tree":
        assert np.abs(matrix).max() <= 6


@pytest.mark.parametrize("style", ["tree", "linear", "network"])
def test_free_text_is_encoded_under_the_names_of_its_words(style: str) -> None:
    words = [["good", "bad"][n % 2] + " " + ["red", "white"][n // 2 % 2] + f" wine {n}" for n in range(80)]
    texts = pd.DataFrame({"review": words})
    encoder = Encoder(style).fit(texts)
    matrix = encoder.transform(texts)
    assert matrix.shape == (80, len(encoder.get_feature_names_out()))
    if style == "linear":
        assert "review white wine" in encoder.get_feature_names_out()


def test_a_table_without_a_usable_column_is_encoded_as_one_column_of_zeros() -> None:
    encoder = Encoder().fit(TRAIN[["same", "empty"]])
    assert encoder.transform(LATER[["same", "empty"]]).tolist() == [[0.0], [0.0]]
    assert encoder.get_feature_names_out() == ["nothing"]


def test_texts_of_training_rows_are_encoded_the_same_during_and_after_the_fit() -> None:
    rng = np.random.default_rng(3)
    reviews = [" ".join(rng.choice(["good", "bad", "room", "view"], 4)) for _ in range(50)]
    texts = pd.DataFrame({"review": [*reviews, *reviews, None]})
    encoder = Encoder("linear")
    training = encoder.fit_transform(texts)
    later = encoder.transform(texts.iloc[::-1])
    assert np.allclose(_dense(training), _dense(later)[::-1])
    assert np.allclose(_dense(Encoder("linear").fit(texts).transform(texts)), _dense(training))
    unseen = encoder.transform(pd.DataFrame({"review": ["unheard of"]}))
    assert not _dense(unseen).any()


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.todense() if sparse.issparse(matrix) else matrix)


def test_the_blind_style_encodes_one_column_of_zeros() -> None:
    matrix = Encoder("blind").fit_transform(TRAIN)
    assert matrix.shape == (4, 1)
    assert not matrix.any()
