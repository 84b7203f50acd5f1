"""Questions about what two tables imply together, about nouns with adjectives, and about years in columns."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

BOOKS = (
    "(1, 'crime', 10.0, 1985, 'monthly'), (2, 'novel', 20.0, 1999, 'yearly'), (3, 'crime', 5.0, 2004, 'yearly')"
)
SALES = "(1, 1, 2), (2, 1, 3), (3, 2, 1), (4, 3, 4)"
SCHEMAS: dict[str, TableSchema] = {
    "books": {
        "book_id": "integer",
        "genre": "text",
        "price": "number",
        "printed": "integer",
        "billing": "text",
    },
    "sales": {"sale_id": "integer", "book_id": "integer", "copies": "integer"},
}


def make_text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


def make_id(name: str, rows: int, unique: bool = True) -> Column:
    values = tuple(range(1, rows + 1))
    return Column(name, "integer", "id", rows, unique=unique, low=1, high=rows, values=values)


TABLES = [
    TableProfile(
        "books",
        3,
        (
            make_id("book_id", 3),
            make_text("genre", "crime", "novel"),
            Column("price", "number", "numeric", 3, low=5.0, high=20.0),
            Column("printed", "integer", "numeric", 3, low=1985, high=2004),
            make_text("billing", "monthly", "yearly"),
        ),
    ),
    TableProfile(
        "sales",
        4,
        (
            make_id("sale_id", 4),
            make_id("book_id", 3, unique=False),
            Column("copies", "integer", "numeric", 4, low=1, high=4),
        ),
    ),
]
ANSWERS: dict[str, list[Any]] = {
    "total revenue per genre": [("crime", 70.0), ("novel", 20.0)],
    "total spend per genre": [("crime", 70.0), ("novel", 20.0)],
    "number of books printed after 1990": [(2,)],
    "average price by literary genre": [("crime", 7.5), ("novel", 20.0)],
    "monthly vs yearly billing: mean price": [("monthly", 10.0), ("yearly", 12.5)],
}


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as database:
        database.execute(
            f"CREATE TABLE books AS FROM (VALUES {BOOKS}) t(book_id, genre, price, printed, billing)"
        )
        database.execute(f"CREATE TABLE sales AS FROM (VALUES {SALES}) t(sale_id, book_id, copies)")
        yield database


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_comes_to_what_the_rows_say(shop: duckdb.DuckDBPyConnection, question: str) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = shop.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
    assert [[*row] for row in rows] == [pytest.approx([*row]) for row in ANSWERS[question]]
