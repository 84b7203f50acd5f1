"""The table whose row is explained."""

from uuid import uuid4

from app.datasets.dataset_source import DatasetRef
from app.tools.conversations.studies import find_table_with


def table(name: str, digest: str, *columns: str) -> DatasetRef:
    return DatasetRef(uuid4(), name, name, digest, 1, [{"name": column} for column in columns], {})


def test_a_table_with_the_column_goes_before_a_view_that_is_to_be_computed() -> None:
    view, stored = table("recent", "", "age", "survived"), table("titanic", "a" * 64, "age", "survived")
    other = table("prices", "b" * 64, "age")
    assert find_table_with([other, view, stored], "survived") == stored
    assert find_table_with([other, view], "survived") == view
    assert find_table_with([other], "survived") is None
