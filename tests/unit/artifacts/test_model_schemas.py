"""What a row to predict may hold."""

import json

import pytest
from pydantic import ValidationError

from app.artifacts.model_schemas import PredictionRequest


@pytest.mark.parametrize("row", ['{"x": 1%s}' % ("0" * 400), r'{"x": "\ud800"}', r'{"\ud800": 1}'])
def test_a_cell_that_no_table_can_hold_is_refused(row: str) -> None:
    with pytest.raises(ValidationError):
        PredictionRequest.model_validate({"rows": [json.loads(row)]})


def test_a_cell_keeps_its_type() -> None:
    row = {"a": 1, "b": True, "c": 1.5, "d": "1", "e": None}
    read = PredictionRequest.model_validate({"rows": [row]}).rows
    assert read is not None
    assert [(cell, type(cell)) for cell in read[0].values()] == [(cell, type(cell)) for cell in row.values()]


def test_an_integer_that_is_too_large_for_a_column_of_integers_is_a_number() -> None:
    read = PredictionRequest.model_validate({"rows": [{"x": 2**64}]}).rows
    assert read == [{"x": 2.0**64}]
