"""Arrow files whose buffers lie or repeat themselves are refused before they are written out."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.computations.uploads.feather import feather_as_parquet
from app.errors import InvalidInput, TooLarge


def convert(tmp_path: Path, *batches: pa.RecordBatch) -> pa.Table:
    """Write the batches as an Arrow file, and read what it is converted to."""
    path = tmp_path / "upload"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return pq.read_table(feather_as_parquet(path, tmp_path))


def same_text(rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, dtype="i1"), pa.array(["x" * 10_000]))


def same_list(rows: int) -> pa.Array:
    sizes = np.full(rows, 10_000, dtype="i4")
    return pa.ListViewArray.from_arrays(np.zeros(rows, dtype="i4"), sizes, np.zeros(10_000, dtype="i1"))


@pytest.mark.parametrize(
    "column",
    [
        same_text(60_000),
        same_list(60_000),
        pa.ListArray.from_arrays(np.arange(0, 60_001, 2, dtype="i4"), same_text(60_000)),
        pa.StructArray.from_arrays([same_text(60_000)], ["a"]),
        pa.nulls(600_000_000),
    ],
    ids=["one text", "one list", "one text in lists", "one text in records", "nulls"],
)
def test_values_that_repeat_are_refused_before_they_are_written_out(tmp_path: Path, column: pa.Array) -> None:
    with pytest.raises(TooLarge, match="its values repeat"):
        convert(tmp_path, pa.record_batch({"a": column}))
    assert (tmp_path / "feather.parquet").stat().st_size < 1 << 20


def pointing_outside(offsets: list[int]) -> pa.Array:
    places = pa.py_buffer(np.array(offsets, dtype="i4").tobytes())
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, [None, places, pa.py_buffer(b"abcdefgh")])


@pytest.mark.parametrize(
    "column",
    [
        pointing_outside([0, 1 << 20, 1 << 21, 7]),
        pointing_outside([0, 4, -5, 7]),
        pa.DictionaryArray.from_arrays(np.array([0, 9, -3], dtype="i4"), pa.array(["x"]), safe=False),
        pa.Array.from_buffers(
            pa.string(),
            1,
            [None, pa.py_buffer(np.array([0, 2], dtype="i4").tobytes()), pa.py_buffer(b"\xff\xfe")],
        ),
    ],
    ids=["beyond the end", "before the beginning", "no entry of a dictionary", "no UTF-8"],
)
def test_values_that_lie_outside_of_their_buffers_are_not_read(tmp_path: Path, column: pa.Array) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        convert(tmp_path, pa.record_batch({"a": column}))


def test_types_whose_values_are_shared_keep_their_values(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays([0, 1, 0, 1], ["x", "y"])
    table = convert(
        tmp_path,
        pa.record_batch(
            {
                "texts": pa.array(["a", None], pa.string_view()),
                "words": words.slice(0, 2),
                "lists": pa.ListArray.from_arrays([0, 3, 4], words),
                "views": pa.array([[1, 2], None], pa.list_view(pa.int64())),
                "records": pa.StructArray.from_arrays([words.slice(1, 2)], ["k"]),
            }
        ),
    )
    assert table.to_pydict() == {
        "texts": ["a", None],
        "words": ["x", "y"],
        "lists": [["x", "y", "x"], ["y"]],
        "views": [[1, 2], None],
        "records": [{"k": "y"}, {"k": "x"}],
    }


def test_small_and_empty_batches_become_few_row_groups(tmp_path: Path) -> None:
    batches = [pa.record_batch({"a": pa.array([place] * (place % 2), pa.int64())}) for place in range(2_000)]
    assert convert(tmp_path, *batches)["a"].to_pylist() == list(range(1, 2_000, 2))
    assert pq.read_metadata(tmp_path / "feather.parquet").num_row_groups == 1


def test_a_batch_beyond_the_memory_is_no_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 1638400000 failed")

    monkeypatch.setattr("app.computations.uploads.feather._write_out", refuse)
    with pytest.raises(MemoryError):
        convert(tmp_path, pa.record_batch({"a": [1]}))
