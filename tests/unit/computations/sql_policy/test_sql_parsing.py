"""SQL texts that a parser reads in very many ways, or not at all."""

import pytest
from sqlglot.errors import SqlglotError

from app.computations.sql_policy.sql_parsing import TooManyReadings, parse_single, parse_sql


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "date(" * 60 + "a" + ")" * 60,
        "SELECT " + "decimal(" * 60 + "1" + ")" * 60,
        "SELECT " + "row(" * 60 + "1" + ")" * 60,
        "SELECT CAST(1 AS " + "struct(a " * 400 + "int" + ")" * 400 + ")",
        "(" * 5_000,
    ],
)
def test_nested_types_and_brackets_end_at_the_bound(text: str) -> None:
    # Without the bound the first would be parsed for longer than a test may run: 2 to the power of 60 attempts.
    with pytest.raises(TooManyReadings):
        parse_sql(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "date(" * 6 + "a" + ")" * 6,
        "SELECT " + "a + " * 3_000 + "a",
        "SELECT * FROM t" + " JOIN t USING (a)" * 500,
        "SELECT " + "CASE WHEN a THEN 1 ELSE (" * 20 + "1" + ") END" * 20,
    ],
)
def test_long_queries_are_parsed(text: str) -> None:
    assert parse_sql(text)


def test_a_comment_after_the_semicolon_is_no_statement() -> None:
    assert parse_single("SELECT 1; -- one").sql() == "SELECT 1"
    with pytest.raises(SqlglotError, match="2 statements"):
        parse_single("SELECT 1; SELECT 2")
