"""Uploads: every kind of file becomes the same plain table; bad ones are refused, or mended with a note."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import convert, ingest
from app.errors import InvalidInput, LabError, TooLarge

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"

Converted = tuple[dict[str, Any], list[tuple[Any, ...]]]


class Desk:
    """Converts bytes as an upload; `left` is what a refusal left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n = 0

    def convert(self, content: bytes, filename: str = "table.csv", **limits: int) -> Converted:
        self.n += 1
        upload, self.output = self.folder / f"upload-{self.n}", self.folder / f"out-{self.n}"
        upload.write_bytes(content)
        self.output.mkdir()
        found = convert(CellWorkspace({"upload": upload}, self.output), filename, **limits)
        assert [path.name for path in self.output.iterdir()] == ["table.parquet"]
        rows = duckdb.sql(f"FROM read_parquet('{self.output}/table.parquet')").fetchall()
        assert found["rows"] == len(rows)
        return found, rows

    def refusal(self, content: bytes, filename: str = "table.csv", **limits: int) -> LabError:
        with pytest.raises(LabError) as refused:
            self.convert(content, filename, **limits)
        assert list(self.output.iterdir()) == []
        return refused.value


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def types(found: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["type"] for column in found["columns"]}


def notes(found: dict[str, Any]) -> str:
    return " ".join(found["format"]["notes"])


TEXT = (
    "city{d}people{d}share{d}since{d}big\n"
    "Ulm{d}126{d}0{p}5{d}2024-01-31{d}true\n"
    "Bonn{d}330{d}1{p}25{d}2024-02-01{d}false\n"
)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", "\x1f", "§"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_any_delimiter_and_decimal_mark_is_read(desk: Desk, delimiter: str, decimal: str) -> None:
    if delimiter == "§" or delimiter == decimal == ",":
        return
    found, rows = desk.convert(TEXT.format(d=delimiter, p=decimal).encode())
    assert types(found) == {
        "city": "text", "people": "integer", "share": "number", "since": "datetime", "big": "boolean",
    }  # fmt: skip
    assert rows[1][:3] == ("Bonn", 330, 1.25)
    assert rows[0][3].isoformat() == "2024-01-31T00:00:00"
    assert (found["format"]["delimiter"], found["format"]["decimal"]) == (delimiter, decimal)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"]
)
def test_any_encoding_is_read(desk: Desk, encoding: str) -> None:
    text = "name,städtchen\n" + "".join(f"Zoë Müller {n},Österreich {n}\n" for n in range(40))
    found, rows = desk.convert(text.encode(encoding))
    assert types(found) == {"name": "text", "städtchen": "text"}
    assert rows[3] == ("Zoë Müller 3", "Österreich 3")


@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "cp932", "gb18030", "euc_kr"])
def test_other_scripts_are_told_by_their_letters(desk: Desk, encoding: str) -> None:
    words = {
        "cp1251": "Москва — столица России",
        "koi8_r": "Санкт-Петербург и Новгород",
        "cp932": "東京都は日本の首都です。カタカナ",
        "gb18030": "北京是中华人民共和国的首都",
        "euc_kr": "서울은 대한민국의 수도이다",
    }
    text = "n,text\n" + "".join(f"{n},{words[encoding]}\n" for n in range(60))
    _, rows = desk.convert(text.encode(encoding))
    assert rows[0] == (0, words[encoding])


COMPRESSIONS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_compressed_files_are_unpacked(desk: Desk, name: str) -> None:
    content = TEXT.format(d=",", p=".").encode()
    found, rows = desk.convert(COMPRESSIONS[name](content))
    assert (len(rows), found["format"]["compression"]) == (2, name)


def test_a_zip_of_one_table_is_unpacked(desk: Desk) -> None:
    found, rows = desk.convert(zipped({"a/b.csv": b"a,b\n1,2\n", "__MACOSX/x": b"junk"}))
    assert (rows, found["format"]["compression"]) == ([(1, 2)], "zip")


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


JSON_ROWS = [{"a": 1, "b": "x", "when": "2024-01-31T10:00:00"}, {"a": None, "b": "y", "when": None}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(JSON_ROWS),
        "\n".join(json.dumps(row) for row in JSON_ROWS),
        json.dumps({"data": JSON_ROWS}),
        json.dumps({"a": [1, None], "b": ["x", "y"], "when": ["2024-01-31T10:00:00", None]}),
    ],
    ids=["array", "lines", "wrapped", "columns"],
)
def test_json_is_read(desk: Desk, text: str) -> None:
    found, rows = desk.convert(text.encode(), "table.json")
    assert types(found) == {"a": "integer", "b": "text", "when": "datetime"}
    assert [row[:2] for row in rows] == [(1, "x"), (None, "y")]


def test_nested_json_is_flattened_one_level(desk: Desk) -> None:
    found, rows = desk.convert(
        json.dumps([{"id": 1, "at": {"lat": 1.5, "deep": {"x": 1}}, "tags": ["a"]}]).encode(), "t"
    )
    assert types(found) == {"id": "integer", "at.lat": "number", "at.deep": "text", "tags": "text"}
    assert rows == [(1, 1.5, '{"x":1}', '["a"]')]
    assert "tags: nested values are kept as JSON text." in notes(found)


def test_parquet_of_any_types_becomes_plain(desk: Desk, tmp_path: Path) -> None:
    duckdb.sql(
        "SELECT 1::UTINYINT AS tiny, 2::HUGEINT AS huge, 1.5::DECIMAL(9, 2) AS amount, 'nan'::FLOAT AS nan,"
        " DATE '2024-01-31' AS day, TIMESTAMPTZ '2024-01-31 12:00:00+02' AS instant, [1] AS list,"
        " {'x': 1} AS record, 'a'::ENUM ('a') AS e, TIME '10:00' AS clock, 'inf'::DOUBLE AS inf"
    ).write_parquet(str(tmp_path / "any.parquet"))
    found, rows = desk.convert((tmp_path / "any.parquet").read_bytes(), "any.parquet")
    assert types(found) == {
        "tiny": "integer", "huge": "number", "amount": "number", "nan": "number", "day": "datetime",
        "instant": "datetime", "list": "text", "record.x": "integer", "e": "text", "clock": "text",
        "inf": "number",
    }  # fmt: skip
    assert rows[0][3] is None
    assert rows[0][10] is None
    assert rows[0][5].isoformat() == "2024-01-31T10:00:00"


def test_excel_is_read_from_its_first_sheet_with_cells(desk: Desk) -> None:
    found, rows = desk.convert(workbook([["name", "n", "x"], ["Zoë", 1, 1.5], ["a,b", 2, 2.25]]), "book.xlsx")
    assert types(found) == {"name": "text", "n": "integer", "x": "number"}
    assert rows == [("Zoë", 1, 1.5), ("a,b", 2, 2.25)]
    assert (found["format"]["kind"], found["format"]["sheet"]) == ("excel", "Data")
    assert "Only the sheet Data was read, not Other." in notes(found)


def workbook(rows: list[list[Any]]) -> bytes:
    """A minimal workbook of two sheets: `Data` with these rows, and `Other`."""

    def sheet(cells: list[list[Any]]) -> bytes:
        body = "".join(f"<row>{''.join(map(cell_of, row))}</row>" for row in cells)
        return f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'.encode()

    def cell_of(cell: Any) -> str:
        if isinstance(cell, str):
            return f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
        return f"<c><v>{cell}</v></c>"

    def relations(*targets: tuple[str, str]) -> bytes:
        each = "".join(
            f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
            for n, (kind, target) in enumerate(targets, start=1)
        )
        return f'<Relationships xmlns="{PACKAGE}/relationships">{each}</Relationships>'.encode()

    sheets = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(("Data", "Other"), start=1)
    )
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{sheets}</sheets></workbook>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>'.encode(),
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": book.encode(),
            "xl/_rels/workbook.xml.rels": relations(
                ("worksheet", "worksheets/sheet1.xml"), ("worksheet", "worksheets/sheet2.xml")
            ),
            "xl/worksheets/sheet1.xml": sheet(rows),
            "xl/worksheets/sheet2.xml": sheet([["o"], [1]]),
        }
    )


REFUSED: list[tuple[str, bytes, str, str]] = [
    ("empty", b"", "table.csv", "empty_file"),
    ("blank", b" \n\n  \n", "table.csv", "empty_file"),
    ("header only", b"a,b,c\n", "table.csv", "no_rows"),
    ("header without end", b"a,b,c", "table.csv", "no_rows"),
    ("binary junk", bytes(range(256)) * 64, "table.csv", "not_a_table"),
    ("an image", b"\x89PNG\r\n\x1a\n" + b"\x00\x01\x02" * 500, "photo.csv", "not_a_table"),
    ("nothing but NULs", b"\x00" * 5000, "table.csv", "not_a_table"),
    ("long rows", b"a,b\n1,2\n1,2,3\n", "table.csv", "ragged_rows"),
    ("long rows far down", b"a,b\n" + b"1,2\n" * 100_000 + b"1,2,3\n", "table.csv", "ragged_rows"),
    ("damaged gzip", gzip.compress(b"a,b\n1,2\n" * 999)[:40], "t.csv.gz", "damaged_file"),
    ("damaged zstd", b"\x28\xb5\x2f\xfdjunkjunk", "t.csv.zst", "damaged_file"),
    ("damaged zip", b"PK\x03\x04junk", "t.xlsx", "damaged_file"),
    ("damaged old Excel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"junk" * 200, "t.xls", "damaged_file"),
    ("damaged Parquet", b"PAR1" + b"junk" * 50 + b"PAR1", "t.parquet", "damaged_file"),
    ("damaged JSON", b'[{"a": 1}, {"a": ', "t.json", "damaged_file"),
    ("gzip in gzip", gzip.compress(gzip.compress(b"a\n1\n")), "t.gz", "nested_archive"),
    ("zip of many", zipped({"a.csv": b"a\n1\n", "b.csv": b"a\n1\n"}), "t.zip", "archive_of_files"),
    ("zip of nothing", zipped({}), "t.zip", "not_a_table"),
    ("gzip of nothing", gzip.compress(b""), "t.gz", "empty_file"),
    ("too many columns", b",".join(b"c%d" % n for n in range(5000)) + b"\n" + b",".join([b"1"] * 5000) + b"\n",
     "t.csv", "too_many_columns"),
    ("an open quote", b'a,b\n1,2\n1,"x\n1,2\n', "t.csv", "open_quote"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "filename", "code"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_bad_file_is_refused_by_name_and_leaves_nothing(
    desk: Desk, content: bytes, filename: str, code: str
) -> None:
    refusal = desk.refusal(content, filename)
    assert refusal.code == code, refusal.detail
    assert len(refusal.detail) < 400
    assert str(desk.folder) not in refusal.detail
    assert refusal.detail.endswith((".", "xz.")) or refusal.code == "damaged_file"


def test_a_damaged_workbook_is_called_one(desk: Desk) -> None:
    workbook = zipped({"[Content_Types].xml": b"<Types/>" * 40, "xl/workbook.xml": b"<workbook/>" * 40})
    cut = desk.refusal(workbook[: len(workbook) // 2], "sales.xlsx")
    assert (cut.code, cut.detail.split(" is ")[0]) == ("damaged_file", "The Excel file")
    archive = zipped({"sales.csv": b"a,b\n1,2\n" * 40})
    assert desk.refusal(archive[:-30], "sales.zip").detail.startswith("The zip file is cut short")


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_a_bomb_is_stopped_at_its_limit(desk: Desk, name: str) -> None:
    bomb = COMPRESSIONS[name](b"0" * (64 << 20))
    refusal = desk.refusal(bomb, expanded_bytes=8 << 20)
    assert isinstance(refusal, TooLarge)
    assert refusal.code == "expands_too_far"


def test_a_zip_bomb_that_lies_about_its_size_is_stopped(desk: Desk) -> None:
    for bomb in (zipped({"a.csv": b"0" * (64 << 20)}), zipped({"xl/workbook.xml": b" " * (64 << 20)})):
        assert desk.refusal(bomb, "b.xlsx", expanded_bytes=8 << 20).code == "expands_too_far"


def test_a_ragged_row_is_named_by_its_line(desk: Desk) -> None:
    refusal = desk.refusal(b"a,b\n1,2\n1,2,3\n")
    assert isinstance(refusal, InvalidInput)
    assert refusal.facts == {"line": 3, "expected": 2, "found": 3}


def test_short_rows_are_filled_and_noted(desk: Desk) -> None:
    found, rows = desk.convert(b"a,b,c\n1,2,3\n4,5\n6\n")
    assert rows == [(1, 2, 3), (4, 5, None), (6, None, None)]
    assert "the first is line 3" in notes(found)


def test_double_and_empty_names_are_mended_and_noted(desk: Desk) -> None:
    found, _ = desk.convert(b",a,A,a, b \n1,2,3,4,5\n")
    assert list(types(found)) == ["column_1", "a", "A_2", "a_3", "b"]
    assert "Column 1 has no name" in notes(found)


def test_a_file_without_a_header_gets_names(desk: Desk) -> None:
    found, rows = desk.convert(b"1,x\n2,y\n")
    assert list(types(found)) == ["column_1", "column_2"]
    assert (len(rows), found["format"]["header"]) == (2, False)


def test_one_column_is_a_table(desk: Desk) -> None:
    assert desk.convert(b"n\n1\n2\n")[1] == [(1,), (2,)]
    assert desk.convert(b"review\nGood, really\nBad\n")[1] == [("Good, really",), ("Bad",)]


def test_missing_values_are_missing_whatever_they_are_called(desk: Desk) -> None:
    found, rows = desk.convert(b"a,b,c\n1,NA,x\n,2.5,\nNaN,?,None\n3,-,y\n")
    assert rows == [(1, None, "x"), (None, 2.5, None), (None, None, "None"), (3, None, "y")]
    assert types(found) == {"a": "integer", "b": "number", "c": "text"}


def test_numbers_that_are_names_stay_text(desk: Desk) -> None:
    found, rows = desk.convert(b"zip,long,n\n00123,12345678901234567890,1\n04567,1,2\n")
    assert types(found) == {"zip": "text", "long": "text", "n": "integer"}
    assert rows[0][:2] == ("00123", "12345678901234567890")


def test_thousands_separators_are_kept_and_noted(desk: Desk) -> None:
    found, _ = desk.convert(b'a;b\n"1,234";"1.234,50"\n"5,678,901";"2,5"\n')
    assert types(found) == {"a": "text", "b": "text"}
    assert "a: numbers with thousands separators are kept as text." in notes(found)
    assert "b: numbers with thousands separators are kept as text." in notes(found)
    found, _ = desk.convert(b"a;b\n1,234;x\n5,678;y\n")
    assert "a: a comma may be a decimal or a thousands mark in 1,234; kept as text." in notes(found)


def test_mixed_columns_are_kept_and_noted(desk: Desk) -> None:
    found, rows = desk.convert(b"a,b\n1,x\n2,y\n3,z\n12 apples,w\n")
    assert types(found)["a"] == "text"
    assert "a: not only numbers (for example '12 apples'); kept as text." in notes(found)
    assert rows[3] == ("12 apples", "w")


def test_a_column_that_changes_far_down_is_judged_anew(desk: Desk) -> None:
    lines = b"".join(b"%d,%d,%d\n" % (n, n, n) for n in range(100_000))
    found, rows = desk.convert(b"a,b,c\n" + lines + b"1.5,oops,7\n")
    assert types(found) == {"a": "number", "b": "text", "c": "integer"}
    assert rows[-1] == (1.5, "oops", 7)
    assert "b: 1 values are no integer (for example 'oops'); kept as text." in notes(found)


def test_a_cast_never_changes_a_value(desk: Desk) -> None:
    lines = b"".join(b"%d,%d,%d,%d\n" % (n, n, n, n) for n in range(100_000))
    found, rows = desk.convert(b"rounded,padded,grouped,hex\n" + lines + b"1.5,007,1_000,0x10\n")
    assert types(found) == {"rounded": "number", "padded": "text", "grouped": "text", "hex": "text"}
    assert rows[-1] == (1.5, "007", "1_000", "0x10")
    numbers = b"".join(b"%d.5\n" % n for n in range(100_000))
    found, rows = desk.convert(b"x\n" + numbers + b"inf\n")
    assert (types(found), rows[-1]) == ({"x": "text"}, ("inf",))
    assert desk.convert(b"a,b\n+5, 7\n-3,8 \n")[1] == [(5, 7), (-3, 8)]


def test_dates_are_read_when_their_order_is_certain(desk: Desk) -> None:
    found, rows = desk.convert(
        b"iso,dmy,mdy,either,zone,named\n"
        b"2024-01-31,31.01.2024,01/31/2024,01/02/2024,2024-01-31T10:00:00+02:00,31-Jan-2024\n"
        b"2024-02-01 10:30,01.02.2024,02/01/2024,03/04/2024,2024-01-31T10:00:00Z,01-Feb-2024\n"
    )
    assert types(found) == {
        "iso": "datetime", "dmy": "datetime", "mdy": "datetime", "either": "text", "zone": "datetime",
        "named": "datetime",
    }  # fmt: skip
    assert [cell.isoformat()[:10] for cell in (*rows[0][:3], rows[0][5])] == ["2024-01-31"] * 4
    assert [row[4].hour for row in rows] == [8, 10]
    assert "either: the order of day and month is unclear" in notes(found)


def test_dates_of_two_kinds_stay_text(desk: Desk) -> None:
    found, _ = desk.convert(b"d,n\n2024-01-31,1\n31.01.2024,2\n")
    assert types(found) == {"d": "text", "n": "integer"}


def test_a_few_nuls_are_removed_and_noted(desk: Desk) -> None:
    found, rows = desk.convert(b"a,b\n1,x\x00y\n2,z\n" + b"3,w\n" * 500)
    assert rows[0] == (1, "xy")
    assert "1 NUL characters were removed." in notes(found)


def test_a_very_long_field_is_read(desk: Desk) -> None:
    for few in (0, 3):
        lead = b"2,y\n" * few
        _, rows = desk.convert(b"a,b\n" + lead + b"1," + b"x" * (5 << 20) + b"\n" + lead)
        assert len(rows[few][1]) == 5 << 20


def test_a_field_beyond_every_buffer_is_refused_and_never_dropped(desk: Desk) -> None:
    for lead in (b"", b"2,y\n" * 3):
        long = b"a,b\n" + lead + b"1," + b"x" * (40 << 20) + b"\n" + lead
        assert desk.refusal(long).code == "line_too_long"


def test_quoted_newlines_in_short_rows_are_read(desk: Desk) -> None:
    body = b'"x\ny",2\n1\n' * 30_000
    _, rows = desk.convert(b"a,b\n" + body)
    assert len(rows) == 60_000
    assert rows[:2] == [("x\ny", 2), ("1", None)]


def test_quotes_newlines_and_delimiters_in_fields_are_kept(desk: Desk) -> None:
    _, rows = desk.convert(b'a,b\n"x, ""y""\nz",1\n"plain",2\n')
    assert rows == [('x, "y"\nz', 1), ("plain", 2)]


def test_lines_before_the_table_are_skipped(desk: Desk) -> None:
    for lead in (b"sep=;\n", b"# made by us\n## twice\n", b"Report of 2024\n\n"):
        found, rows = desk.convert(lead + b"a;b;c\n1;2;3\n4;5;6\n7;8;9\n")
        assert rows[0] == (1, 2, 3), lead
        assert list(types(found)) == ["a", "b", "c"]


def test_windows_line_ends_are_read(desk: Desk) -> None:
    assert desk.convert(b"a,b\r\n1,x\r\n2,y\r\n")[1] == [(1, "x"), (2, "y")]


def test_a_profile_says_what_columns_hold(tmp_path: Path) -> None:
    lines = "".join(
        f"{n},{n % 2},{n / 4},{'ab'[n % 2]},2024-01-01,,some longer words {n * 7 % 90} and more\n"
        for n in range(100)
    )
    upload = tmp_path / "t.csv"
    upload.write_text("order_id,flag,price,kind,day,empty,remark\n" + lines)
    output = tmp_path / "out"
    output.mkdir()
    found = ingest(CellWorkspace({"upload": upload}, output), "t.csv")
    columns = {column["name"]: column for column in found["profile"]["columns"]}
    assert {name: column["hint"] for name, column in columns.items()} == {
        "order_id": "id", "flag": "boolean", "price": "numeric", "kind": "category", "day": "constant",
        "empty": "empty", "remark": "text",
    }  # fmt: skip
    assert columns["order_id"]["unique"] is True
    assert (columns["price"]["min"], columns["price"]["max"], columns["price"]["q50"]) == (0.0, 24.75, 12.375)
    assert columns["price"]["mean"] == pytest.approx(12.375)
    assert columns["kind"]["top"] == [{"value": "a", "count": 50}, {"value": "b", "count": 50}]
    assert (columns["empty"]["missing"], columns["empty"]["missing_count"]) == (1.0, 100)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_times_of_a_large_panel_are_counted_and_not_estimated(tmp_path: Path) -> None:
    days = [(date(2000, 1, 1) + timedelta(days=number)).isoformat() for number in range(6_000)]
    lines = "".join(f"{day},{shop},{place % 977}\n" for place, day in enumerate(days) for shop in range(20))
    upload, output = tmp_path / "t.csv", tmp_path / "out"
    upload.write_text(f"day,shop,sold\n{lines}")
    output.mkdir()
    found = ingest(CellWorkspace({"upload": upload}, output), "t.csv")
    columns = {column["name"]: column for column in found["profile"]["columns"]}
    assert (columns["day"]["distinct"], columns["shop"]["distinct"]) == (6_000, 20)
    assert not columns["day"]["distinct_approximate"]


def test_a_long_table_is_read_by_a_part_of_its_rows_whatever_its_columns_are_called(tmp_path: Path) -> None:
    names = ["n", "nn", *(f"x{place}" for place in range(18))]
    rows = 60_000
    upload = tmp_path / "upload"
    upload.write_text("\n".join([",".join(names), *[",".join(["1.5"] * 20)] * rows]))
    (tmp_path / "out").mkdir()
    found: Any = ingest(CellWorkspace({"upload": upload}, tmp_path / "out"), "long.csv")
    assert found["rows"] == rows
    assert [column["name"] for column in found["columns"]] == names
