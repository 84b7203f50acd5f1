"""Features become numbers that were learned from training rows only."""

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


def test_trees_get_gaps_as_gaps_and_categories_by_how_frequent_they_are() -> None:
    encoder = Encoder("tree").fit(TRAIN)
    assert encoder.get_feature_names_out() == ["size", "paid", "town", "day", "day day", "day day_of_week"]
    made = encoder.transform(TRAIN)
    assert made.dtype == np.float32
    assert made[:, 2].tolist()[:3] == [0.0, 1.0, 0.0]
    assert np.isnan(made[2, 0])
    assert np.isnan(made[3, 2])


def test_linear_models_get_scaled_numbers_ranks_flags_and_one_column_a_category() -> None:
    encoder = Encoder("linear", in_order=True).fit(TRAIN[["size", "town", "day"]])
    names = encoder.get_feature_names_out()
    numbers = ["size", "size rank", "size missing", "day"]
    assert names == [*numbers, "size=1", "size=2", "size=3", "town=Ulm"]
    made = encoder.transform(TRAIN)
    assert made.shape[1] == len(names)
    assert made[:, 0].mean() == pytest.approx(0, abs=1e-6)
    assert made[:, 0].std() == pytest.approx(1)
    assert made[2, 2] == 1


def test_in_time_order_only_calendar_parts_that_come_again_are_kept() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=100)})
    ordered = Encoder("tree", in_order=True).fit(days).get_feature_names_out()
    assert ordered == ["day", "day day", "day day_of_week"]
    assert "day month" in Encoder("tree").fit(days).get_feature_names_out()


@pytest.mark.parametrize("style", ["tree", "linear", "network"])
def test_what_was_never_seen_breaks_nothing(style: str) -> None:
    made = Encoder(style).fit(TRAIN).transform(LATER)
    made = made.toarray() if sparse.issparse(made) else made
    assert made.shape[0] == 2
    assert not np.isinf(made).any()
    if style != "tree":
        assert np.abs(made).max() <= 6


@pytest.mark.parametrize("style", ["tree", "linear", "network"])
def test_free_text_becomes_numbers_under_names_that_say_so(style: str) -> None:
    words = [["good", "bad"][n % 2] + " " + ["red", "white"][n // 2 % 2] + f" wine {n}" for n in range(80)]
    texts = pd.DataFrame({"said": words})
    encoder = Encoder(style).fit(texts)
    made = encoder.transform(texts)
    assert made.shape == (80, len(encoder.get_feature_names_out()))
    if style == "linear":
        assert "said white wine" in encoder.get_feature_names_out()


def test_a_table_without_a_usable_column_gives_one_that_says_nothing() -> None:
    encoder = Encoder().fit(TRAIN[["same", "empty"]])
    assert encoder.transform(LATER[["same", "empty"]]).tolist() == [[0.0], [0.0]]
    assert encoder.get_feature_names_out() == ["nothing"]


def test_texts_weigh_the_same_whether_rows_are_encoded_while_learning_or_later() -> None:
    rng = np.random.default_rng(3)
    said = [" ".join(rng.choice(["good", "bad", "room", "view"], 4)) for _ in range(50)]
    texts = pd.DataFrame({"said": [*said, *said, None]})
    encoder = Encoder("linear")
    learned = encoder.fit_transform(texts)
    later = encoder.transform(texts.iloc[::-1])
    assert np.allclose(_dense(learned), _dense(later)[::-1])
    assert np.allclose(_dense(Encoder("linear").fit(texts).transform(texts)), _dense(learned))
    one = encoder.transform(pd.DataFrame({"said": ["unheard of"]}))
    assert not _dense(one).any()


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.todense() if sparse.issparse(matrix) else matrix)


def test_an_estimator_that_looks_at_no_column_is_given_none() -> None:
    made = Encoder("blind").fit_transform(TRAIN)
    assert made.shape == (4, 1)
    assert not made.any()
