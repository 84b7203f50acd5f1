"""Questions whose readings are composed: answers over two small tables, and sentences that are not answered."""

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

BORROWERS = "(1, 'Ann', 'North'), (2, 'Bob', 'South'), (3, 'Cid', 'North'), (4, 'Dee', 'South')"
LOANS = """
    (1, 1, 'novel', 10, 2), (2, 1, 'novel', 20, 0), (3, 2, 'atlas', 30, 0),
    (4, 2, 'novel', 40, 4), (5, 2, 'comic', 50, 0), (6, 3, 'atlas', 60, 6)
"""
SCHEMAS: dict[str, TableSchema] = {
    "borrowers": {"borrower_id": "integer", "name": "text", "district": "text"},
    "loans": {
        "loan_id": "integer",
        "borrower_id": "integer",
        "genre": "text",
        "pages": "integer",
        "days_late": "integer",
    },
}


def number(name: str, low: float, high: float, distinct: int, unique: bool = False) -> Column:
    hint = "id" if name.endswith("id") else "numeric"
    return Column(name, "integer", hint, distinct, unique=unique, low=low, high=high)


def text(name: str, *values: str, unique: bool = False) -> Column:
    return Column(name, "text", "category", len(values), unique=unique, top=values, values=values)


TABLES = (
    TableProfile(
        "borrowers",
        4,
        (
            number("borrower_id", 1, 4, 4, unique=True),
            text("name", "Ann", "Bob", "Cid", "Dee", unique=True),
            text("district", "North", "South"),
        ),
    ),
    TableProfile(
        "loans",
        6,
        (
            number("loan_id", 1, 6, 6, unique=True),
            number("borrower_id", 1, 3, 3),
            text("genre", "novel", "atlas", "comic"),
            number("pages", 10, 60, 6),
            number("days_late", 0, 6, 4),
        ),
    ),
)


@pytest.fixture(scope="module")
def library() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, rows in (("borrowers", BORROWERS), ("loans", LOANS)):
            columns = ", ".join(SCHEMAS[name])
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {rows}) AS t({columns})")
        yield connection


ANSWERS: Mapping[str, list[tuple[Any, ...]]] = {
    "How many loans are there per genre?": [("atlas", 2), ("comic", 1), ("novel", 3)],
    "Which genre has the most loans?": [("novel", 3)],
    "mean pages by genre, highest first": [("comic", 50.0), ("atlas", 45.0), ("novel", 70 / 3)],
    "borrowers without loans": [("Dee", 4)],
    "How many borrowers have more than one loan?": [(2,)],
    "total pages per district": [("North", 90), ("South", 120)],
    "Are novels longer than comics? mean pages": [("novel", 23.333333, False), ("comic", 50.0, True)],
    "difference in mean pages between atlas and novel": [(45 - 70 / 3, 45.0, 70 / 3)],
    "number of loans that are not novels": [(3,)],
    "average number of loans per borrower": [(2.0,)],
    "second most common genre": [("atlas", 2)],
    "top 2 loans sorted by pages": [(6, 60), (5, 50)],
    "show me the bottom 2 loans sorted by pages": [(1, 10), (2, 20)],
    "list the pages of novels sorted by pages descending": [
        (40, 4, "novel"),
        (20, 2, "novel"),
        (10, 1, "novel"),
    ],
    "top 2 genres sorted by average pages": [("comic", 50.0), ("atlas", 45.0)],
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_composed_reading_comes_to_what_the_rows_say(
    library: duckdb.DuckDBPyConnection, question: str
) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = library.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
    assert [[*row] for row in rows] == [pytest.approx([*row]) for row in ANSWERS[question]]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("list borrowers sorted by name", ["Ann", "Bob", "Cid", "Dee"]),
        ("sort the borrowers by name, descending", ["Dee", "Cid", "Bob", "Ann"]),
        ("borrowers of the north ordered by name in descending order", ["Cid", "Ann"]),
    ],
)
def test_rows_are_listed_in_the_order_that_is_asked_for(
    library: duckdb.DuckDBPyConnection, question: str, names: list[str]
) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = library.execute(compile_plan(parsed.plan, SCHEMAS).sql).df()
    assert [*rows["name"]] == names
    first = "lowest" if names[0] == "Ann" else "highest"
    assert f"the {first} `name` first" in parsed.description


@pytest.mark.parametrize(
    "question",
    [
        "How many stolen loans are there per genre?",
        "mean pages of illustrated loans",
        "Which genre has the most wolves?",
        "total pages per moon phase",
    ],
)
def test_a_word_that_nothing_explains_is_said(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)
