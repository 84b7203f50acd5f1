"""Files that cannot be read are refused with what is wrong with them, and what to do."""

import bz2
import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.computations.uploads.compound_file import check_compound
from app.errors import InvalidInput, LabError

from .test_hostile_workbooks import GOOD, compound
from .uploaded_tables import TREES, as_csv, as_workbook, upload

TABLE = as_csv([["tree", "age", "height"], *TREES])
LINES = [json.dumps({"a": n, "b": f"t{n}"}) for n in range(100)]


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def with_bytes(content: bytes, place: int, other: bytes) -> bytes:
    return content[:place] + other + content[place + len(other) :]


def locked() -> bytes:
    content = zipped(a__csv=TABLE)
    place = content.rfind(b"PK\x01\x02") + 8
    return with_bytes(with_bytes(content, 6, b"\x01"), place, b"\x01")


def parquet() -> bytes:
    file = io.BytesIO()
    values = [f"value {n * 7919 % 10_007}" for n in range(20_000)]
    pq.write_table(pa.table({"a": values}), file, compression="none")
    return file.getvalue()


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        member = tarfile.TarInfo("table.csv")
        member.size = len(TABLE)
        archive.addfile(member, io.BytesIO(TABLE))
    return file.getvalue()


def database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "table.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
    connection.close()
    return (folder / "table.db").read_bytes()


def with_line(number: int, line: str) -> bytes:
    lines = [*LINES[: number - 1], line, *LINES[number:]]
    return "\n".join(lines).encode()


ARCHIVE = zipped(a__csv=TABLE)
DIRECTORY = ARCHIVE.rfind(b"PK\x01\x02")
PAGE = b"<!DOCTYPE html>\n<html><head><title>403\n Forbidden</title></head><body><p>Sign in.</p></body></html>"
BOOK = as_workbook(("Trees", TREES))
PARQUET = parquet()
FILES = {
    "cut gzip": ("t.csv.gz", gzip.compress(TABLE)[:-40], "gzip file is cut short"),
    "gzip of other content": ("t.csv.gz", gzip.compress(TABLE)[:-8] + bytes(8), "differs from its checksum"),
    "gzip and more": ("t.csv.gz", gzip.compress(TABLE) + b"more", "other bytes follow its data"),
    "cut bzip2": ("t.csv.bz2", bz2.compress(TABLE)[:-40], "bzip2 file is cut short"),
    "cut zip": ("t.zip", ARCHIVE[:-40], "zip file is cut short: the list of its files"),
    "zip with a bad list": ("t.zip", with_bytes(ARCHIVE, DIRECTORY, b"XXXX"), "list of its files"),
    "zip of other content": ("t.zip", with_bytes(ARCHIVE, DIRECTORY + 16, b"1234"), "its checksum"),
    "locked zip": ("t.zip", locked(), "locked with a password"),
    "zip of several": ("t.zip", zipped(a__csv=TABLE, b__csv=TABLE), r"2 files \(a.csv, b.csv\)"),
    "Word": ("t.csv", zipped(**{"word/document__xml": b"<w/>", "x__xml": b"<x/>"}), "a Word document"),
    "cut workbook": ("t.xlsx", BOOK[:-100], "Excel file is cut short"),
    "web page": ("t.xlsx", PAGE, r"web page \('403 Forbidden'\).*download the table there"),
    "PDF": ("t.csv", b"%PDF-1.7\n%\xe2\xe3\n" + bytes(range(256)) * 9, "a PDF document"),
    "tar": ("t.csv.gz", tar(), "a tar archive"),
    "pointer": ("t.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\n", "git lfs pull"),
    "cut Parquet": ("t.parquet", PARQUET[:-300], "Parquet file is cut short"),
    "half of Parquet": ("t.parquet", PARQUET[: len(PARQUET) // 2], "Parquet file is cut short"),
    "Parquet of other values": ("t.parquet", with_bytes(PARQUET, 4, b"\xff" * 5_000), "file is damaged"),
    "broken line": ("t.jsonl", with_line(42, '{"a": 41, "b": "t'), "Line 42 of the file is no complete JSON"),
    "foreign line": ("t.jsonl", with_line(42, "no JSON"), r"Line 42 of the file .* \('no JSON'\)"),
    "broken first line": ("t.jsonl", with_line(1, "oops"), "Line 1 of the file is no complete JSON"),
    "broken last line": ("t.jsonl", with_line(100, '{"a"'), "Line 100 of the file is no complete JSON"),
    "blank lines": ("t.jsonl", with_line(3, '\n\n{"a": oops}'), "Line 5 of the file is no complete JSON"),
    "cut list": ("t.json", f"[{LINES[0]},\n{LINES[1]},\n".encode() + b'{"a": 5', r"cut short.*line 3, c"),
    "cut object": ("t.json", b'{"rows": [{"a": 1}, {"a": 2,', r"cut short.*line 1"),
    "comma at the end": ("t.json", f"[{LINES[0]},\n]".encode(), r"cannot be read: .*line [12]"),
    "single quotes": ("t.json", b"[{'a': 1}, {'a': 2}]", r"double quotes.*line 1, column 3"),
    "comment": ("t.json", b'// by hand\n[{"a": 1}, {"a": 2}]', "begins with a comment"),
    "empty object": ("t.json", b"{ }", "has no rows"),
    "empty list": ("t.json", b"[]\n", "has no rows"),
    "long row": ("t.csv", b"a,b\n1,2\n1,2,3,4\n1,2\n", "Line 3 has more than the 2 fields"),
    "only a header": ("t.csv", b"a,b\n", "a header and no rows"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_is_refused_with_its_fault(tmp_path: Path, name: str) -> None:
    filename, content, reason = FILES[name]
    with pytest.raises(LabError, match=f"(?s){reason}"):
        upload(tmp_path / "file", content, filename)


def test_a_database_is_refused_by_its_first_bytes(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"SQLite database.*Export its table"):
        upload(tmp_path / "file", database(tmp_path), "t.csv")


@pytest.mark.parametrize(
    ("stream", "reason"),
    [("EncryptedPackage", "locked with a password"), ("WordDocument", "a Word document")],
)
def test_compound_files_of_others_are_known_by_their_streams(tmp_path: Path, stream: str, reason: str) -> None:
    content = with_bytes(compound(GOOD, stream=(2, 4096), sectors=16), 1024, stream.encode("utf-16-le"))
    (tmp_path / "book.xlsx").write_bytes(content)
    with pytest.raises(InvalidInput, match=reason):
        check_compound(tmp_path / "book.xlsx")


@pytest.mark.parametrize(
    "content",
    [
        TABLE.replace(b"tree 1", b"tr\0ee 1"),
        TABLE[:60] + bytes(200) + TABLE[60:],
        TABLE + bytes(200),
        b"\0".join(bytes([letter]) for letter in TABLE[:20]) + TABLE[20:],
    ],
)
def test_text_with_bytes_of_zero_is_read_with_a_note(tmp_path: Path, content: bytes) -> None:
    table, notes = upload(tmp_path / "file", content)
    assert len(table) == len(TREES)
    assert any("NUL characters were removed" in note for note in notes)


def test_members_that_systems_add_to_an_archive_are_none(tmp_path: Path) -> None:
    content = zipped(**{"t/a__csv": TABLE, "__MACOSX/t/__a__csv": b"x", "t/.DS_Store": b"y", "Thumbs.db": b"z"})
    assert len(upload(tmp_path / "file", content, "t.zip")[0]) == len(TREES)


def test_a_column_of_json_texts_has_a_name(tmp_path: Path) -> None:
    content = "payload\n" + "\n".join(f'{{"a": {n}}}' for n in range(9))
    assert list(upload(tmp_path / "file", content.encode(), "t.csv")[0].columns) == ["payload"]
