"""Columns that a phrase of a goal names in other words: shortened, or of one concept."""

import pytest

from app.agents.goals.columns.named_columns import match_columns
from app.agents.goals.tables.profiles import Column


@pytest.mark.parametrize(
    ("phrase", "column"),
    [
        ("gender", "sex"),
        ("years", "yr"),
        ("yield", "yld"),
        ("department", "dept"),
        ("winner", "won"),
        # Calendar units are no durations.
        ("day", None),
        ("price", None),
    ],
)
def test_a_word_names_a_column_that_shortens_it_or_is_of_its_concept(phrase: str, column: str | None) -> None:
    columns = [Column(name, "", "") for name in ("sex", "yr", "yld", "dept", "won", "trip", "colour")]
    assert match_columns(phrase, columns) == ([] if column is None else [column])


def test_a_key_is_named_without_the_mark_at_its_end() -> None:
    columns = [Column("SITEID", "integer", "id", 4), Column("SIDE", "text", "category", 2)]
    assert match_columns("site", columns) == ["SITEID"]
