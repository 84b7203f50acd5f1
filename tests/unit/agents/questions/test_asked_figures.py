"""The figure that a question asks for: extremes, measures of ranked things, groups by numbers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    ('Pip', 'mare', 4, 400, 50, 2, 2019), ('Dot', 'mare', 9, 500, 90, 4, 2020),
    ('Zed', 'stallion', 9, 450, 70, 4, 2020), ('Pip', 'gelding', 6, 450, 60, 3, 2021)
"""
SCHEMA: TableSchema = {
    "name": "text",
    "breed": "text",
    "age": "integer",
    "weight": "integer",
    "price": "integer",
    "mane_length": "integer",
    "stable": "integer",
}
PROFILE = TableProfile(
    "horses",
    40,
    (
        Column("name", "text", "text", 30, top=("Pip", "Dot", "Zed"), values=("Pip", "Dot", "Zed")),
        Column("breed", "text", "category", 3, values=("mare", "stallion", "gelding")),
        Column("age", "integer", "numeric", 3, low=4, high=9),
        Column("weight", "integer", "numeric", 3, low=400, high=500),
        Column("price", "integer", "numeric", 4, low=50, high=90),
        Column("mane_length", "integer", "numeric", 3, low=2, high=4),
        Column("stable", "integer", "numeric", 3, low=2019, high=2021),
    ),
)


@pytest.fixture(scope="module")
def stud() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE horses AS SELECT * FROM (VALUES {ROWS}) AS t({', '.join(SCHEMA)})")
        yield connection


def answer(question: str, stud: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    parsed = parse_question(question, (PROFILE,))
    assert isinstance(parsed, ParsedQuestion), parsed
    return stud.execute(compile_plan(parsed.plan, {"horses": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("What was the age of the oldest horse?", [(9,)]),
        ("What is the smallest weight?", [(400,)]),
        ("What is the longest mane length?", [(4,)]),
        ("What was the breed of the heaviest horse?", [("Dot", "mare", 500)]),
        ("What is the price of the heaviest horse?", [("Dot", 90, 500)]),
        ("What was the weight of the youngest horse?", [("Pip", 400, 4)]),
        ("Which horses are the oldest?", [("Dot", 9), ("Zed", 9)]),
        ("Which stable has the lowest average weight?", [(2019, 400.0)]),
        ("Which stable have an average price above 75?", [(2020, 80.0)]),
        ("In which stable were the most horses born?", [(2020, 2)]),
        ("What was the price of the horse with the name Zed?", [(70,)]),
        ("How many different stables are there?", [(3,)]),
        ("How many different names are there?", [(3,)]),
        ("How many different names of horses are there?", [(3,)]),
    ],
)
def test_the_figure_that_is_asked_for_is_answered(
    question: str, rows: list[tuple[Any, ...]], stud: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, stud) == rows


FLOWERS = TableProfile(
    "iris",
    4,
    (
        Column("sepal_length", "integer", "numeric", 4, low=1, high=4),
        Column("petal_length", "integer", "numeric", 4, low=1, high=4),
        Column("petal_width", "integer", "numeric", 4, low=1, high=4),
    ),
)


def test_a_noun_alike_to_several_measures_names_the_rows_that_have_them() -> None:
    parsed = parse_question("How many flowers have a petal width above 2?", (FLOWERS,))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert parsed.description == "the number of rows, where `petal_width` is above 2, from `iris`"


def test_rows_that_a_share_leaves_out_are_named() -> None:
    columns = [
        replace(column, missing=0.1) if column.name == "weight" else column for column in PROFILE.columns
    ]
    parsed = parse_question(
        "What share of the horses is heavier than 420?", (replace(PROFILE, columns=(*columns,)),)
    )
    assert isinstance(parsed, ParsedQuestion), parsed
    assert "Rows without a `weight` count neither way." in parsed.interpretations
