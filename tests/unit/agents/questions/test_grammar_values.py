"""Stored values that are words of grammar: `in` and `out` of a column of directions."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

SCHEMA: TableSchema = {"warehouse": "text", "direction": "text", "qty": "integer"}
MOVEMENTS = TableProfile(
    "movements",
    400,
    (
        Column("warehouse", "text", "category", 2, top=("North", "South"), values=("North", "South")),
        Column("direction", "text", "category", 2, top=("in", "out"), values=("in", "out")),
        Column("qty", "integer", "numeric", 90, low=1, high=99),
    ),
)


@pytest.fixture(scope="module")
def movements() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE movements AS SELECT * FROM (VALUES ('North', 'in', 10), ('North', 'out', 4),"
            " ('South', 'in', 7), ('South', 'out', 2), ('North', 'in', 5)) AS t(warehouse, direction, qty)"
        )
        yield connection


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("total qty in per warehouse", {("North", 15), ("South", 7)}),
        ("total qty out by warehouse", {("North", 4), ("South", 2)}),
        ("qty in vs out", {("in", 22), ("out", 6)}),
        ("how many movements went out", {(2,)}),
        ("total qty in North", {(19,)}),
        ("total qty in the South", {(9,)}),
    ],
)
def test_a_preposition_without_a_noun_is_a_value(
    question: str, rows: set[tuple[Any, ...]], movements: duckdb.DuckDBPyConnection
) -> None:
    parsed = parse_question(question, [MOVEMENTS])
    assert isinstance(parsed, ParsedQuestion), parsed
    answered = movements.execute(compile_plan(parsed.plan, {"movements": SCHEMA}).sql).fetchall()
    assert set(answered) == rows, parsed.description
