"""Questions about rows of a kind: women of a column `female`, those who stayed, cases of a column `count`."""

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

SCHEMAS: dict[str, TableSchema] = {
    "subscribers": {"female": "integer", "churn": "text", "months": "integer", "total_charges": "number"},
    "swabs": {"test_id": "text", "outcome": "text", "age": "integer"},
    "outbreaks": {"county": "text", "season": "integer", "count": "integer"},
    "voyages": {"route": "text", "churn": "text", "lifeExp": "number"},
}
ROWS = {
    "subscribers": "(1, 'Yes', 2, 20.5), (1, 'No', 30, 900.5), (0, 'No', 50, 1500.5), (0, 'Yes', 4, 44.5)",
    "swabs": "('a', 'positive', 30), ('a', 'positive', 40), ('a', 'negative', 50), ('b', 'negative', 60)",
    "voyages": "('A', 'yes', 60.0), ('A', 'no', 62.0), ('B', 'yes', 70.0), ('B', 'yes', 50.0)",
    "outbreaks": "('Kerry', 1990, 12), ('Mayo', 1990, 30), ('Kerry', 1991, 80), ('Mayo', 1991, 1)",
}


def text(name: str, *values: str, hint: Any = "category") -> Column:
    return Column(name, "text", hint, len(values), top=values, values=values)


def number(name: str, distinct: int, low: float, high: float, type_: Any = "integer") -> Column:
    return Column(name, type_, "boolean" if distinct == 2 else "numeric", distinct, low=low, high=high)


PROFILES = {
    "subscribers": (
        Column("female", "integer", "boolean", 2, low=0, high=1, top=(0, 1), values=(0, 1)),
        text("churn", "No", "Yes", hint="boolean"),
        number("months", 4, 2, 50),
        number("total_charges", 4, 20.5, 1500.5, "number"),
    ),
    "swabs": (
        text("test_id", "a", "b", hint="id"),
        text("outcome", "negative", "positive"),
        number("age", 4, 30, 60),
    ),
    "voyages": (
        text("route", "A", "B"),
        text("churn", "no", "yes", hint="boolean"),
        number("lifeExp", 4, 50, 70, "number"),
    ),
    "outbreaks": (
        text("county", "Kerry", "Mayo"),
        Column("season", "integer", "numeric", 2, low=1990, high=1991, top=(1990, 1991)),
        number("count", 4, 1, 80),
    ),
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    types = {"integer": "INTEGER", "number": "DOUBLE", "text": "VARCHAR"}
    with duckdb.connect() as connection:
        for table, schema in SCHEMAS.items():
            columns = ", ".join(f'"{name}" {types[kind]}' for name, kind in schema.items())
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"INSERT INTO {table} VALUES {ROWS[table]}")
        yield connection


@pytest.mark.parametrize(
    ("table", "question", "rows"),
    [
        ("subscribers", "average months of men versus women", [(0, 27.0), (1, 16.0)]),
        ("subscribers", "how many women churned", [(1,)]),
        ("subscribers", "average months of those who stayed", [(40.0,)]),
        ("subscribers", "what share of customers churned", [(0.5, 2)]),
        ("swabs", "how many tests were positive", [(2,)]),
        ("voyages", "which route has the highest churn", [("B", 1.0)]),
        ("voyages", "which route has the highest life expectancy", [("A", 61.0)]),
        ("outbreaks", "which season had the most cases", [(1991, 81)]),
        ("outbreaks", "how many cases were there in Kerry", [(92,)]),
    ],
)
def test_rows_of_a_kind_are_told_apart(
    table: str, question: str, rows: list[tuple[Any, ...]], database: duckdb.DuckDBPyConnection
) -> None:
    parsed = parse_question(question, (TableProfile(table, 4, PROFILES[table]),))
    assert isinstance(parsed, ParsedQuestion), parsed
    assert database.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall() == rows


WARDS = (
    TableProfile(
        "stays",
        1500,
        (
            Column("stay_id", "integer", "id", 1500, unique=True, low=1, high=1500),
            text("ward", "Cardiology", "Surgery", "Oncology"),
            number("cost", 1400, 300.0, 9000.0, "number"),
        ),
    ),
    TableProfile(
        "wards",
        3,
        (
            Column("ward", "text", "id", 3, unique=True, values=("Cardiology", "Surgery", "Oncology")),
            number("beds", 3, 18, 40),
            Column("head", "text", "id", 3, unique=True, values=("Dr. Amari", "Dr. Bloom", "Dr. Castro")),
        ),
    ),
)


@pytest.mark.parametrize(
    "question", ["mean cost by ward", "number of stays per ward", "number of beds by ward"]
)
def test_rows_that_are_named_by_their_key_are_grouped_by_it_and_not_by_another_name(question: str) -> None:
    parsed = parse_question(question, WARDS)
    assert isinstance(parsed, ParsedQuestion), parsed
    assert "`ward`" in parsed.description
    assert "`head`" not in parsed.description
    assert len(parsed.tables) == 1, "the key stands in the rows themselves"


def test_rows_with_codes_for_keys_are_grouped_by_their_names() -> None:
    codes = ("W01", "W02", "W03")
    coded = [
        TableProfile(
            table.name,
            table.rows,
            tuple(
                replace(column, values=codes) if column.name == "ward" else column for column in table.columns
            ),
        )
        for table in WARDS
    ]
    parsed = parse_question("mean cost by ward", coded)
    assert isinstance(parsed, ParsedQuestion), parsed
    assert "`head`" in parsed.description
