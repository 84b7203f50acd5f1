"""Bounds of uploads are kept while a file is read: bytes unpacked, and columns."""

import bz2
import gzip
import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads import ingest as ingest_module
from app.computations.uploads import parquet_and_json
from app.computations.uploads.dialect import sniff
from app.computations.uploads.expansion_limits import MAX_RATIO, MIN_EXPANDED_BYTES
from app.computations.uploads.file_kinds import unpack
from app.computations.uploads.ingest import convert
from app.computations.uploads.json_column_count import check_json_width
from app.computations.uploads.json_text_length import MAX_TEXT_BYTES, check_text_length
from app.computations.uploads.parquet_and_json import MAX_LEVELS
from app.errors import InvalidInput, TooLarge

OPERATOR_BYTES = 8 << 30
COLUMNS = [f"c{number}" for number in range(200_000)]


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", data)
    return file.getvalue()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zipped])
def test_a_bomb_is_written_to_its_bound_only(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(pack(bytes(8 * MIN_EXPANDED_BYTES)))
    with pytest.raises(TooLarge) as refused:
        unpack(upload, tmp_path, OPERATOR_BYTES)
    bound = max(MAX_RATIO * upload.stat().st_size, MIN_EXPANDED_BYTES)
    assert refused.value.facts == {"limit_bytes": bound}
    written = sum(path.stat().st_size for path in tmp_path.iterdir() if path != upload)
    assert written <= bound


def test_a_zip_with_an_endless_list_of_files_is_refused_before_it_is_read(tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    data = bytearray(zipped(b"a,b\n1,2\n"))
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 16] = (400 << 20).to_bytes(4, "little")
    upload.write_bytes(data)
    with pytest.raises(InvalidInput, match="list of files"):
        unpack(upload, tmp_path, OPERATOR_BYTES)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_columns_are_counted_before_the_first_line_ends(delimiter: str, quote: str) -> None:
    sample = delimiter.join(f"{quote}{name}{quote}" for name in COLUMNS)[: 1 << 20]
    with pytest.raises(TooLarge, match="at least"):
        sniff(sample, is_complete=False)


def test_marks_in_one_long_quoted_text_are_no_columns() -> None:
    sample = '1,"' + "word; word, word | " * 60_000
    sniff(sample[: 1 << 20], is_complete=False)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([dict.fromkeys(COLUMNS, 1)]),
        json.dumps(dict.fromkeys(COLUMNS, "text, with: marks {")),
        "\n".join(json.dumps({name: None}) for name in COLUMNS[:10_000]),
    ],
)
def test_keys_of_json_records_are_counted_as_columns(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(TooLarge, match="columns"):
        check_json_width(tmp_path / "t.json")


def test_json_rows_by_their_times_are_no_columns(tmp_path: Path) -> None:
    rows = {f"2024-01-01 {number}": {"open": 1, "close": [2]} for number in range(20_000)}
    (tmp_path / "t.json").write_text(json.dumps(rows))
    check_json_width(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("levels", "kind"), [(60, pa.list_), (30, lambda inner: pa.struct([("a", pa.list_(inner))])), (9, pa.list_)]
)
def test_levels_of_a_parquet_column_are_counted_before_it_is_read(
    tmp_path: Path, levels: int, kind: Callable[[pa.DataType], pa.DataType]
) -> None:
    nested: pa.DataType = pa.int64()
    for _ in range(levels):
        nested = kind(nested)
    pq.write_table(pa.table({"a": pa.array([None, None], type=nested), "b": [1, 2]}), tmp_path / "upload")
    (tmp_path / "out").mkdir()
    workspace = CellWorkspace({"upload": tmp_path / "upload"}, tmp_path / "out")
    if levels < MAX_LEVELS:
        assert convert(workspace, "table.parquet")["rows"] == 2
        return
    with pytest.raises(InvalidInput, match="levels deep"):
        convert(workspace, "table.parquet")


@pytest.mark.parametrize(
    "column",
    [
        pa.DictionaryArray.from_arrays(pa.array([0] * 2_000_000, pa.int8()), pa.array(["x" * 1_000])),
        pa.chunked_array([pa.array([7] * 1_000_000)] * 70),
    ],
    ids=["one long text", "one number"],
)
def test_a_parquet_file_of_repeated_values_is_refused_before_they_are_written_out(
    tmp_path: Path, column: pa.Array
) -> None:
    upload, output = tmp_path / "table.parquet", tmp_path / "out"
    output.mkdir()
    pq.write_table(pa.table({"a": column}), upload, compression="zstd")
    with pytest.raises(TooLarge, match="its values repeat"):
        convert(CellWorkspace({"upload": upload}, output), "table.parquet")
    assert not list(output.iterdir())


@pytest.mark.parametrize("names", [[f"c{number}" for number in range(4_000)], ["a"] * 4_000])
def test_the_widest_tables_are_planned_without_comparing_their_columns(
    tmp_path: Path, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[str] = []

    class Connection:
        """The connection that writes the table, and what its optimizer is told."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def execute(self, statement: str, *rest: Any) -> Any:
            if statement.startswith("COPY"):
                settings.append(
                    self._inner.execute("SELECT current_setting('disabled_optimizers')").fetchone()[0]
                )
            return self._inner.execute(statement, *rest)

    write = ingest_module._write
    monkeypatch.setattr(ingest_module, "_write", lambda connection, *rest: write(Connection(connection), *rest))
    (tmp_path / "upload").write_text(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    (tmp_path / "out").mkdir()
    result = convert(CellWorkspace({"upload": tmp_path / "upload"}, tmp_path / "out"), "table.csv")
    assert len(result["columns"]) == len(names)
    assert settings == ["common_subexpressions"]


@pytest.mark.parametrize("filename", ["value.parquet", "value.json"])
def test_a_value_beyond_the_memory_of_the_database_is_no_damaged_file(
    tmp_path: Path, filename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "_MEMORY_BYTES", 24 << 20)
    upload, text = tmp_path / "upload", "x" * (8 << 20)
    if filename.endswith("json"):
        upload.write_text(json.dumps([{"a": text}, {"a": "y"}]))
    else:
        pq.write_table(pa.table({"a": [text * 2], "b": [1]}), upload)
    (tmp_path / "out").mkdir()
    with pytest.raises(MemoryError):
        convert(CellWorkspace({"upload": upload}, tmp_path / "out"), filename)


def convert_upload(folder: Path) -> object:
    """Rows of the table that the file `upload` of a folder becomes."""
    output = Path(tempfile.mkdtemp(dir=folder))
    return convert(CellWorkspace({"upload": folder / "upload"}, output))["rows"]


def test_a_parquet_file_of_too_many_row_groups_is_refused_by_its_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table({"a": range(200)})
    pq.write_table(table, tmp_path / "upload", row_group_size=1)
    monkeypatch.setattr(parquet_and_json, "MAX_FOOTER_BYTES", 5_000)
    with pytest.raises(TooLarge, match="larger row groups"):
        convert_upload(tmp_path)
    monkeypatch.undo()
    assert convert_upload(tmp_path) == 200
    monkeypatch.setattr(parquet_and_json, "MAX_SMALL_GROUPS", 150)
    with pytest.raises(TooLarge, match="has 200 row groups for 200 rows"):
        convert_upload(tmp_path)
    monkeypatch.setattr(parquet_and_json, "MIN_GROUP_ROWS", 1)
    assert convert_upload(tmp_path) == 200


@pytest.mark.parametrize("letter", ["x", "\\u00e9", '\\"', "\\\\", "é"])
def test_a_long_text_of_json_is_refused_however_it_is_spelled(tmp_path: Path, letter: str) -> None:
    text = letter * (MAX_TEXT_BYTES // len(letter.encode()))
    (tmp_path / "upload.json").write_text(f'[{{"a": "{text}", "b": 1}}]')
    check_text_length(tmp_path / "upload.json")
    (tmp_path / "upload.json").write_text(f'[{{"b": "x\\\\", "a": "{text}{letter * 8}"}}]')
    with pytest.raises(TooLarge, match="longer than 8 MiB"):
        check_text_length(tmp_path / "upload.json")


def test_many_texts_and_a_long_list_of_numbers_are_no_long_text(tmp_path: Path) -> None:
    texts = ", ".join([json.dumps('a "word" \\ ' * 60_000)] * 14)
    (tmp_path / "upload.json").write_text(f"[{texts}, {'1, ' * 4_000_000} 2]")
    check_text_length(tmp_path / "upload.json")


def test_an_object_beyond_the_reader_is_refused_with_what_to_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_and_json, "_MAX_OBJECT_BYTES", 1 << 20)
    rows = [{"a": n, "b": "word" * 250} for n in range(40_000)]
    (tmp_path / "upload").write_text(json.dumps({"rows": rows}))
    with pytest.raises(TooLarge, match="a list of objects, or one object per line"):
        convert_upload(tmp_path)
