"""Features become numbers that were learned from training rows only."""

import numpy as np
import pandas as pd
import pytest

from app.modeling.encode import Encoder

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


def test_trees_get_gaps_as_gaps_and_categories_as_places() -> None:
    encoder = Encoder("tree").fit(TRAIN)
    assert encoder.get_feature_names_out() == ["size", "town", "paid", "day"]
    made = encoder.transform(TRAIN)
    assert made[:, 1].tolist()[:3] == [1.0, 0.0, 1.0]
    assert np.isnan(made[2, 0])
    assert np.isnan(made[3, 1])


def test_linear_models_get_scaled_numbers_flags_and_one_column_a_category() -> None:
    encoder = Encoder("linear").fit(TRAIN)
    assert encoder.get_feature_names_out() == ["size", "size missing", "town=Bonn", "town=Ulm", "paid", "day"]
    made = encoder.transform(TRAIN)
    assert made[:, 0].mean() == pytest.approx(0)
    assert made[:, 0].std() == pytest.approx(1)
    assert made[2, 1] == 1


@pytest.mark.parametrize("style", ["tree", "linear"])
def test_what_was_never_seen_breaks_nothing(style: str) -> None:
    made = Encoder(style).fit(TRAIN).transform(LATER)
    assert made.shape[0] == 2
    assert not np.isinf(made).any()
    if style == "linear":
        assert np.abs(made).max() <= 6
        assert made[0, 2:4].tolist() == [0, 0]


def test_a_table_without_a_usable_column_gives_one_that_says_nothing() -> None:
    encoder = Encoder().fit(TRAIN[["same", "empty"]])
    assert encoder.transform(LATER[["same", "empty"]]).tolist() == [[0.0], [0.0]]
    assert encoder.get_feature_names_out() == ["nothing"]
