"""Records in JSON objects are rows, whichever way the object holds them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.computations.uploads.uploaded_tables import upload

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
