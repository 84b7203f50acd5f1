"""Values of variables: what comes back, what names share, and what is not kept."""

import collections
import datetime
import decimal
import io
import pickle
import zipfile
import zoneinfo
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from app.computations.program_state.saving import save_groups
from app.computations.program_state.state_file import load_values, read_groups, write_state
from app.errors import InvalidInput

CITIES = pd.DataFrame(
    {
        "name": ["Bern", None, "Graz"],
        "people": [134_000, 2, 3],
        "since": pd.date_range("2024-01-01", periods=3, tz="Europe/Zurich"),
        "kind": pd.Categorical(["a", "b", "a"], categories=["b", "a"], ordered=True),
        "label": pd.Series(["x", "y", "z"], dtype=object),
        "day": [datetime.date(2024, 1, 1)] * 3,
    }
)


def restore(values: dict[str, Any]) -> dict[str, Any]:
    saved = save_groups(values)
    assert saved.not_kept == {}
    restored: dict[str, Any] = {}
    for group, data in saved.groups.items():
        names = [name for name, member in saved.group_of.items() if member == group]
        restored |= load_values(data, names, saved.files.__getitem__)
    return restored


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 7, 1.5, 2j, "text", b"bytes", bytearray(b"b"), range(3), slice(1, 2)),
        {"a": [1, (2, {3})], "b": frozenset({4})},
        collections.OrderedDict(a=1),
        collections.defaultdict(list, a=[1]),
        collections.Counter("aab"),
        collections.deque([1, 2], maxlen=5),
        datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Zurich")),
        datetime.timedelta(hours=1),
        decimal.Decimal("1.10"),
        UUID(int=5),
        np.float64(1.5),
        np.datetime64("2024-01-01", "s"),
        np.dtype("int16"),
        pd.Timestamp("2024-10-27 02:30", tz="UTC").tz_convert("Europe/Zurich"),
        pd.Timestamp("2024-01-01 03:00:00.123456789"),
        pd.Timedelta("1h"),
    ],
    ids=repr,
)
def test_a_plain_value_comes_back_as_it_is(value: Any) -> None:
    restored = restore({"value": value})["value"]
    assert (restored, type(restored)) == (value, type(value))
    assert repr(restored) == repr(value)


@pytest.mark.parametrize(
    "frame",
    [
        CITIES,
        CITIES.set_index("name"),
        CITIES.set_index("since").asfreq("D"),
        CITIES.groupby(["kind", "label"], observed=True)[["people"]].sum(),
        CITIES[CITIES["people"] > 2],
        pd.DataFrame({1: [1.0, None], 2: [True, False]}),
        pd.DataFrame(),
        pd.DataFrame(
            {"a": pd.array([1, None], dtype="Int64"), "b": pd.period_range("2024", periods=2, freq="M")}
        ),
    ],
)
def test_a_frame_comes_back_with_its_types_and_its_index(frame: pd.DataFrame) -> None:
    restored = restore({"frame": frame})["frame"]
    pd.testing.assert_frame_equal(restored, frame)
    assert getattr(restored.index, "freq", None) == getattr(frame.index, "freq", None)


def test_series_indexes_and_arrays_come_back() -> None:
    values = {
        "series": CITIES["people"].rename(("a", 1)),
        "index": pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]),
        "names": CITIES["name"].unique(),
        "matrix": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "objects": np.array([{"a": 1}, None], dtype=object),
        "large": np.arange(100_000),
    }
    restored = restore(values)
    pd.testing.assert_series_equal(restored["series"], values["series"])
    pd.testing.assert_index_equal(restored["index"], values["index"])
    assert type(restored["names"]) is type(values["names"])
    assert restored["objects"].tolist() == values["objects"].tolist()
    for name in ("matrix", "large"):
        np.testing.assert_array_equal(restored[name], values[name])


def test_an_estimator_predicts_as_before() -> None:
    model = LinearRegression().fit([[1], [2]], [2, 4])
    restored = restore({"model": model})["model"]
    assert restored.predict([[3]]) == model.predict([[3]])


def test_names_for_one_object_stay_so_and_make_a_group() -> None:
    shared: list[Any] = [1]
    frame, array = CITIES.copy(), np.arange(3)
    values = {"a": shared, "b": {"in": shared}, "c": [array, frame], "d": array, "e": frame, "f": [1]}
    values["a"].append(values["a"])
    restored = restore(values)
    assert restored["a"] is restored["b"]["in"] is restored["a"][1]
    assert restored["c"][0] is restored["d"]
    assert restored["c"][1] is restored["e"]
    groups = save_groups(values).group_of
    assert groups["a"] == groups["b"]
    assert groups["c"] == groups["d"] == groups["e"]
    assert len(set(groups.values())) == 3


def test_what_cannot_come_back_is_named_with_its_reason(tmp_path: Path) -> None:
    class Own:
        pass

    class Numbers(list[int]):
        pass

    array = np.arange(4)
    with (tmp_path / "file").open("w") as file:
        saved = save_groups(
            {
                "own": Own(),
                "numbers": Numbers(),
                "lines": (line for line in "a"),
                "call": lambda: 1,
                "file": file,
                "holds": [1, {"deep": Own()}],
                "mixed": pd.DataFrame({"a": [1, "x"]}),
                "lists": pd.DataFrame({"a": [[1], [2]]}),
                "twice": pd.DataFrame([[1, 2]], columns=["a", "a"]),
                "array": array,
                "view": array[:2],
                "plain": 1,
                "evaluate": eval,
            }
        )
    assert sorted(saved.group_of) == ["array", "plain"]
    assert saved.not_kept["lines"] == "a generator"
    assert saved.not_kept["view"].startswith("a view of an array")
    assert saved.not_kept["mixed"].startswith("a table whose cells cannot be stored")
    assert saved.not_kept["lists"] == "a table whose column a holds lists or mappings"


def test_strided_columns_of_one_array_are_views_only_where_they_overlap() -> None:
    matrix = np.arange(6).reshape(3, 2).copy()
    saved = save_groups({"first": matrix[:, 0], "second": matrix[:, 1]})
    assert saved.not_kept == {}


class Evil:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("call", [(eval, ("1/0",)), (getattr, ("", "upper")), (print, ("x",))])
def test_a_state_that_names_another_class_is_not_read(call: Any) -> None:
    with pytest.raises(InvalidInput, match="is not read"):
        load_values(pickle.dumps({"a": Evil(*call)}), ["a"], lambda _: b"")


@pytest.mark.parametrize("data", [b"", b"no pickle", pickle.dumps({"b": 1}), pickle.dumps(1)])
def test_a_damaged_group_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_values(data, ["a"], lambda _: b"")


def test_a_state_file_is_the_same_bytes_for_the_same_groups(tmp_path: Path) -> None:
    groups = {"a" * 64: b"one", "b" * 64: b"two"}
    path = tmp_path / "state.zip"
    path.write_bytes(write_state(groups))
    assert write_state(dict(reversed(groups.items()))) == path.read_bytes()
    assert read_groups(path, ["b" * 64]) == {"b" * 64: b"two"}
    with pytest.raises(InvalidInput):
        read_groups(path, ["c" * 64])


def test_a_state_file_that_would_expand_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.computations.program_state.state_file.MAX_STATE_BYTES", 1_000)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a" * 64, bytes(10_000))
    path = tmp_path / "state.zip"
    path.write_bytes(sink.getvalue())
    with pytest.raises(InvalidInput, match="too large"):
        read_groups(path, ["a" * 64])


def test_values_over_the_limit_are_not_kept_and_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.computations.program_state.values.MAX_STATE_BYTES", 1_000_000)
    saved = save_groups({"a": np.zeros(200_000), "b": 1, "c": np.zeros(1_000)})
    assert list(saved.not_kept) == ["a"]
    assert sorted(saved.group_of) == ["b", "c"]
