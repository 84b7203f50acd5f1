import datetime
import enum
import json

import numpy as np
import pandas as pd
import pytest

from app.errors import TooLarge
from app.sandbox.answer_conversion import encode, to_json


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (float("nan"), None),
        (np.inf, None),
        (np.bool_(True), True),
        (pd.NaT, None),
        (pd.NA, None),
        (pd.Timestamp("2024-01-02"), "2024-01-02 00:00:00"),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (Colour.RED, "red"),
        ((1, [2.0]), [1, [2.0]]),
        ({3, 1, 2}, [1, 2, 3]),
        ({1: {"a": None}}, {"1": {"a": None}}),
        (np.array([[1, 2]]), [[1, 2]]),
        (pd.Series([1.5], index=["a"]), {"a": 1.5}),
    ],
)
def test_values_of_numpy_and_pandas_become_plain_json(value: object, plain: object) -> None:
    assert to_json(value) == plain
    assert type(to_json(value)) is type(plain)


def test_a_frame_becomes_its_first_rows_and_its_size() -> None:
    shown = to_json(pd.DataFrame({"a": range(1_000)}))
    assert isinstance(shown, dict)
    assert (shown["columns"], shown["row_count"], len(shown["rows"])) == (["a"], 1_000, 50)  # type: ignore[arg-type]


def test_a_value_that_contains_itself_is_cut_off() -> None:
    loop: list[object] = []
    loop.append(loop)
    json.dumps(to_json(loop))


def test_a_value_over_the_limit_is_refused_with_both_sizes() -> None:
    with pytest.raises(TooLarge) as refusal:
        encode("x" * 100, limit_bytes=50)
    assert refusal.value.facts == {"size_bytes": 102, "limit_bytes": 50}


def test_a_value_with_too_many_keys_is_refused() -> None:
    assert encode([{"a": 1}] * 5, limit_bytes=1_000, max_keys=5) == [{"a": 1}] * 5
    with pytest.raises(TooLarge, match="more than 4 keys"):
        encode([{"a": 1}] * 5, limit_bytes=1_000, max_keys=4)
