import datetime
import enum
import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from app.errors import TooLarge
from app.sandbox.exchange.answer_limits import AnswerLimits
from app.sandbox.programs.answer_conversion import encode, to_json


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
        (
            pd.Series([1.5], index=pd.Index(["a"], name="group"), name="mean"),
            {"columns": ["group", "mean"], "rows": [["a", 1.5]], "row_count": 1},
        ),
    ],
)
def test_values_of_numpy_and_pandas_become_plain_json(value: object, plain: object) -> None:
    assert to_json(value) == plain
    assert type(to_json(value)) is type(plain)


def test_a_frame_becomes_its_first_rows_and_its_size() -> None:
    shown = to_json(pd.DataFrame({"a": range(1_000)}))
    assert isinstance(shown, dict)
    assert (shown["columns"], shown["row_count"], len(shown["rows"])) == (["a"], 1_000, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrap", [lambda item: [item], lambda item: {"a": item}, lambda item: pd.Series([item])]
)
def test_a_value_of_64_levels_is_whole_and_of_65_is_refused(wrap: Callable[[object], object]) -> None:
    value: object = Colour.RED
    for _ in range(64):
        value = wrap(value)
    assert json.dumps(to_json(value)).count("red") == 1
    with pytest.raises(TooLarge, match="more than 64 levels") as refusal:
        to_json(wrap(value))
    assert (refusal.value.code, refusal.value.facts) == ("value_too_deep", {"limit": 64})


def test_the_rows_of_a_frame_count_as_levels() -> None:
    value: object = pd.DataFrame({"a": [1]})
    for _ in range(61):
        value = [value]
    assert "rows" in json.dumps(to_json(value))
    with pytest.raises(TooLarge):
        to_json([value])


def test_a_value_that_contains_itself_is_refused_at_its_first_branch() -> None:
    loop: list[object] = []
    loop += [loop, loop]
    with pytest.raises(TooLarge, match="contains itself"):
        to_json(loop)


def test_a_value_over_the_limit_is_refused_with_both_sizes() -> None:
    with pytest.raises(TooLarge) as refusal:
        encode("x" * 100, AnswerLimits(50))
    assert refusal.value.facts == {"size_bytes": 102, "limit_bytes": 50}


def test_a_value_with_too_many_keys_is_refused() -> None:
    assert encode([{"a": 1}] * 5, AnswerLimits(1_000, max_keys=5)) == [{"a": 1}] * 5
    with pytest.raises(TooLarge, match="more than 4 keys"):
        encode([{"a": 1}] * 5, AnswerLimits(1_000, max_keys=4))


def test_a_frame_keeps_the_labels_of_its_rows() -> None:
    frame = pd.DataFrame({"g": list("aab"), "h": [1, 2, 1], "v": [1.0, 3.0, 5.0]})
    by_group: dict = to_json(frame.groupby("g")[["v"]].mean())
    assert (by_group["columns"], by_group["rows"]) == (["g", "v"], [["a", 2.0], ["b", 5.0]])
    by_both: dict = to_json(frame.groupby(["g", "h"])["v"].sum())
    assert (by_both["columns"], by_both["rows"][0]) == (["g", "h", "v"], ["a", 1, 1.0])
    several: dict = to_json(frame.groupby("g").agg({"v": ["min", "max"]}))
    assert several["columns"] == ["g", "v min", "v max"]
    summary: dict = to_json(frame[["v"]].describe())
    assert summary["rows"][0] == ["count", 3.0]
    filtered: dict = to_json(frame[frame["v"] > 1])
    assert (filtered["columns"], filtered["row_count"]) == (["g", "h", "v"], 2)


def test_a_long_series_says_how_many_values_it_has() -> None:
    values: dict = to_json(pd.Series(range(180), index=[f"k{n}" for n in range(180)], name="v"))
    assert (values["columns"], len(values["rows"]), values["row_count"]) == (["index", "v"], 100, 180)
