"""Numbers of things in messages."""

import pytest

from app.counts import describe_count, describe_size


@pytest.mark.parametrize(
    ("count", "plural", "text"),
    [(1, "", "1 study"), (1, "studies", "1 study"), (1_313, "studies", "1,313 studies")],
)
def test_a_number_agrees_with_its_noun(count: int, plural: str, text: str) -> None:
    assert describe_count(count, "study", plural) == text


def test_the_size_of_a_table_counts_rows_and_columns() -> None:
    assert describe_size(1_313, 1) == "1,313 rows, 1 column"
