"""JSON answers as tables: at a pointer, in an envelope, or as they are."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.records import open_envelope, read

CITIES = [{"city": "Oslo", "people": 3}, {"city": "Bodo", "people": 1}]


@pytest.mark.parametrize(
    "content",
    [
        {"data": CITIES, "next": 2},
        {"count": 2, "results": CITIES},
        {"cities": CITIES},
        {"items": CITIES, "links": [], "errors": []},
    ],
)
def test_an_envelope_is_opened(content: dict[str, Any]) -> None:
    assert open_envelope(content) == CITIES
    empty = {name: [] if value is CITIES else value for name, value in content.items()}
    assert open_envelope(empty) == []


@pytest.mark.parametrize(
    "content",
    [
        CITIES,
        {"name": "Ada", "orders": CITIES},
        {"name": "Ada", "tags": []},
        {"values": [1, 2], "name": "x"},
        {"data": CITIES, "rows": CITIES},
        "text",
    ],
)
def test_what_is_no_envelope_stays_as_it_is(content: Any) -> None:
    assert open_envelope(content) == content


@pytest.mark.parametrize(
    ("params", "count"), [({}, 1), ({"unwrap": True}, 2), ({"unwrap": True, "pointer": "/data/1"}, 1)]
)
def test_an_answer_has_the_rows_that_are_meant(tmp_path: Path, params: dict[str, Any], count: int) -> None:
    answer = tmp_path / "answer"
    answer.write_text(json.dumps({"data": CITIES, "next": 2}))
    output = tmp_path / "output"
    output.mkdir()
    assert read(CellWorkspace({"answer": answer}, output), **params)["row_count"] == count


@pytest.mark.parametrize("digits", ["9" * 19, "-" + "9" * 30, "9" * 5_000])
def test_integers_of_more_than_64_bits_are_the_nearest_numbers(tmp_path: Path, digits: str) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(f'[{{"number": {digits}, "small": -5}}]')
    table = read(CellWorkspace({"answer": answer}, tmp_path))
    assert table["row_count"] == 1
    stored = pd.read_parquet(tmp_path / "result.parquet")
    assert (stored["number"][0], stored["small"][0]) == (float(digits), -5)
