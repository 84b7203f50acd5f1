"""Records in JSON objects are rows, whichever way the object holds them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

from app.computations.uploads.json_shapes import MAX_DOCUMENT_BYTES
from app.errors import TooLarge

RECORDS = [{"k": n, "v": f"v{n}"} for n in range(8)]
SHAPES: dict[str, Any] = {
    "two lists of records": {"few": [{"z": 1}], "items": RECORDS},
    "a list below other members": {"status": "ok", "result": {"count": 8, "records": RECORDS}},
    "columns by row": {"k": {str(n): n for n in range(8)}, "v": {str(n): f"v{n}" for n in range(8)}},
    "rows beside names": {
        "columns": ["k", "v"],
        "index": list(range(8)),
        "data": [[n, f"v{n}"] for n in range(8)],
    },
    "a table with its schema": {"schema": {"fields": [{"name": str(n)} for n in range(30)]}, "data": RECORDS},
}


@pytest.mark.parametrize("case", SHAPES)
def test_records_are_the_rows(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", json.dumps(SHAPES[case]).encode(), "table.json")
    assert table.to_dict("records") == RECORDS


def test_records_by_key_keep_their_keys(tmp_path: Path) -> None:
    records = {"NL": {"pop": 17, "capital": "Amsterdam"}, "BE": {"pop": 11, "capital": "Brussels"}}
    table, _ = upload(tmp_path / "file", json.dumps(records).encode(), "table.json")
    assert table.values.tolist() == [["NL", 17, "Amsterdam"], ["BE", 11, "Brussels"]]


def test_what_is_not_read_is_noted(tmp_path: Path) -> None:
    _, notes = upload(tmp_path / "lists", json.dumps(SHAPES["two lists of records"]).encode(), "table.json")
    assert "The rows are those of items, not of few (1)." in notes
    thing = {"name": "x", "place": {"street": "s", "number": 3}}
    table, notes = upload(tmp_path / "object", json.dumps(thing).encode(), "table.json")
    assert len(table) == 1
    assert "The file is one object; its members are one row." in notes


@pytest.mark.parametrize(("field", "name"), [("index", "key"), ("v", "index")])
def test_the_column_of_keys_takes_no_name_of_a_field(field: str, name: str, tmp_path: Path) -> None:
    records = {"NL": {field: 1, "w": "a"}, "BE": {field: 3, "w": "b"}}
    table, _ = upload(tmp_path / "file", json.dumps(records).encode(), "table.json")
    assert table.to_dict("records") == [{name: "NL", field: 1, "w": "a"}, {name: "BE", field: 3, "w": "b"}]


def test_missing_words_do_not_make_columns_of_records(tmp_path: Path) -> None:
    records = {"Al": {"age": 31, "pts": 4}, "Bo": {"age": "n/a", "pts": "n/a"}, "Cy": {"age": 22, "pts": 9}}
    table, _ = upload(tmp_path / "file", json.dumps(records).encode(), "table.json")
    assert table["index"].tolist() == ["Al", "Bo", "Cy"]
    assert table["age"].dropna().tolist() == [31, 22]


LONG = [12345678901234567890123, 12345678901234567890124]
NESTED_IDS: dict[str, Any] = {
    "in a list of an object": {"data": [{"id": number} for number in LONG]},
    "deep in an object": {"r": {"d": {"rows": [{"id": number, "x": 1.5} for number in LONG]}}},
    "in a record of a record": [{"place": {"id": number}} for number in LONG],
    "in lists of records": [{"x": {"ids": [{"id": number}]}} for number in LONG],
}


@pytest.mark.parametrize("case", NESTED_IDS)
def test_long_identifiers_are_exact_at_any_depth(case: str, tmp_path: Path) -> None:
    table, _ = upload(tmp_path / "file", json.dumps(NESTED_IDS[case]).encode(), "table.json")
    assert [str(number) in str(row) for number, row in zip(LONG, table.values.tolist(), strict=True)] == [
        True
    ] * 2


def test_measures_that_are_whole_by_their_size_stay_numbers(tmp_path: Path) -> None:
    planets = [{"p": {"kg": 5.972e24}}, {"p": {"kg": 6.4e23}}]
    table, _ = upload(tmp_path / "file", json.dumps(planets).encode(), "table.json")
    assert table["p.kg"].tolist() == [5.972e24, 6.4e23]


PADDING = ["x" * 1_000] * (MAX_DOCUMENT_BYTES // 1_000)
"""Texts that together take an object beyond its bound, none of which is too long."""


def test_records_deep_in_a_large_object_are_the_rows(tmp_path: Path) -> None:
    document = {"pad": PADDING, "result": {"data": {"records": RECORDS, "other": [{"z": 1}]}}}
    table, notes = upload(tmp_path / "file", json.dumps(document).encode(), "table.json")
    assert table.to_dict("records") == RECORDS
    assert "The rows are those of result.data.records, not of result.data.other (1)." in notes


def test_records_with_few_common_fields_are_rows(tmp_path: Path) -> None:
    document = {"a": {"items": [{f"k{n}": n} for n in range(300)]}}
    table, _ = upload(tmp_path / "file", json.dumps(document).encode(), "table.json")
    assert table.shape == (300, 300)


def test_a_large_object_without_records_is_refused_with_the_limit(tmp_path: Path) -> None:
    document = {"pad": PADDING, "NL": {"pop": 17}, "BE": {"pop": 11}}
    with pytest.raises(TooLarge, match="16 MiB") as refused:
        upload(tmp_path / "file", json.dumps(document).encode(), "table.json")
    assert refused.value.code == "too_large_to_read"
