"""Bounds of filters of tables."""

import pytest
from pydantic import ValidationError

from app.datasets.table_requests import MAX_FILTER_VALUES, TableQuery

SOURCE = {"dataset_id": "00000000-0000-0000-0000-000000000001"}


def test_the_values_of_all_comparisons_of_a_filter_are_bounded_together() -> None:
    member = {"column": "a", "comparison": "in", "values": [str(number) for number in range(1_000)]}
    fitting = MAX_FILTER_VALUES // 1_000
    query = {"source": SOURCE, "filter": {"and": [{"or": [member] * fitting}]}}
    assert TableQuery.model_validate(query).to_cell()["filter"]
    with pytest.raises(ValidationError, match="a filter has up to 5,000 values"):
        TableQuery.model_validate(query | {"filter": {"and": [{"or": [member] * fitting}, member]}})
