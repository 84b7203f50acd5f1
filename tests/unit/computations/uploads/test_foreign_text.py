"""Texts that are no delimited tables are converted, or refused with what to do."""

import json
from pathlib import Path

import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

from app.errors import InvalidInput

LINES = "\n".join(json.dumps({"k": n, "v": f"v{n}"}) for n in range(8))


@pytest.mark.parametrize("filename", ["table.csv", "table.txt", "table"])
@pytest.mark.parametrize("text", [LINES, "[" + LINES.replace("\n", ",\n") + "]"])
def test_json_is_read_under_any_name(filename: str, text: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", text.encode(), filename)
    assert table["k"].tolist() == list(range(8))


def test_columns_of_fixed_width_are_split(tmp_path: Path) -> None:
    lines = ["NAME      CITY        AGE", *(f"Person {n:<3}Den Haag    {20 + n:>3}" for n in range(20))]
    table, notes = upload(tmp_path / "file", "\n".join(lines).encode(), "table.txt")
    assert list(table.columns) == ["NAME", "CITY", "AGE"]
    assert table.iloc[3].tolist() == ["Person 3", "Den Haag", 23]
    assert "fixed width" in notes[0]


def test_sentences_are_no_columns_of_fixed_width(tmp_path: Path) -> None:
    lines = ["review", *(f"It was good.  I liked number {n}." for n in range(20))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode())
    assert list(table.columns) == ["review"]


def test_names_of_rows_need_no_name(tmp_path: Path) -> None:
    lines = ['"mpg" "cyl"', *(f'"Car {n}" {n}.5 6' for n in range(9))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode(), "table.txt")
    assert list(table.columns) == ["column_1", "mpg", "cyl"]
    assert table.iloc[2].tolist() == ["Car 2", 2.5, 6]


def test_rows_in_quotes_are_rows(tmp_path: Path) -> None:
    lines = ['"id,name"', *(f'"{n},""a, b"""' for n in range(9))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode())
    assert table.values.tolist() == [[n, "a, b"] for n in range(9)]


def test_lines_of_empty_quotes_are_missing_values(tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", b'""\n""\n""\n')
    assert table.isna().all(axis=None)


def test_lines_with_further_fields_are_not_cut(tmp_path: Path) -> None:
    lines = ['"a,b,c"', *(f'"{n},{n},{n}"' for n in range(60)), '"x","y,1","z"']
    with pytest.raises(InvalidInput):
        upload(tmp_path / "file", "\n".join(lines).encode())


MARKUP = {
    "HTML": "<html><body><table><tr><td>1</td></tr></table></body></html>",
    "XML": '<?xml version="1.0"?>\n<rows>\n<row>1</row>\n</rows>',
    "SQL": "-- dump\nINSERT INTO t (a, b) VALUES (1, 'x');",
}


@pytest.mark.parametrize("kind", MARKUP)
def test_markup_is_refused_with_what_to_do(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"The file is {kind}") as refused:
        upload(tmp_path / "file", MARKUP[kind].encode(), "export.xls")
    assert refused.value.code == "not_a_table"


def test_names_in_angle_brackets_are_a_header(tmp_path: Path) -> None:
    lines = ["<DATE>,<CLOSE>", *(f"2024-01-{n:02},{n}.5" for n in range(1, 20))]
    table, _ = upload(tmp_path / "file", "\n".join(lines).encode())
    assert list(table.columns) == ["<DATE>", "<CLOSE>"]
