"""Questions about single rows: further facts of one, its rank, two beside each other, repeated ones; years."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

SCHEMAS: dict[str, TableSchema] = {
    "ferries": {
        "ferry": "text",
        "harbour": "text",
        "skipper": "text",
        "built": "integer",
        "sailed": "datetime",
        "wait_min": "number",
        "repair_cost": "number",
        "fault": "number",
    },
    "readings": {"buoy": "text", "salt": "number"},
}
ROWS = {
    "ferries": """
        ('Alba', 'Oban', 'Reid', 1990, '2024-01-02', 5.0, 900.0, 2.5),
        ('Brae', 'Oban', 'Muir', 2004, '2024-03-04', 35.0, 100.0, 4.5),
        ('Coll', 'Tiree', 'Reid', 2012, '2024-02-03', 25.0, 400.0, 1.5),
        ('Dunn', 'Tiree', 'Muir', 2018, '2024-04-01', 10.0, 300.0, 3.5)
    """,
    "readings": "('n', 1.0), ('n', 1.0), ('s', 2.0), ('n', 1.0), ('s', 2.5)",
}


def text(name: str, *values: str, unique: bool = False) -> Column:
    hint: Any = "id" if unique else "category"
    return Column(name, "text", hint, len(values), unique=unique, top=values, values=values)


def number(name: str, low: float, high: float, type_: Any = "number") -> Column:
    return Column(name, type_, "numeric", 4, low=low, high=high)


PROFILES = {
    "ferries": TableProfile(
        "ferries",
        4,
        (
            text("ferry", "Alba", "Brae", "Coll", "Dunn", unique=True),
            text("harbour", "Oban", "Tiree"),
            text("skipper", "Reid", "Muir"),
            number("built", 1990, 2018, "integer"),
            Column("sailed", "datetime", "datetime", 4, low="2024-01-02T00:00:00", high="2024-04-01T00:00:00"),
            number("wait_min", 5, 35),
            number("repair_cost", 100, 900),
            number("fault", 1.5, 4.5),
        ),
    ),
    "readings": TableProfile("readings", 5, (text("buoy", "n", "s"), number("salt", 1, 2.5))),
}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for table, schema in SCHEMAS.items():
            types = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "datetime": "TIMESTAMP"}
            columns = ", ".join(f'"{name}" {types[kind]}' for name, kind in schema.items())
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"INSERT INTO {table} VALUES {ROWS[table]}")
        yield connection


def parse(table: str, question: str) -> Any:
    return parse_question(question, (PROFILES[table],))


@pytest.mark.parametrize(
    ("table", "question", "cells"),
    [
        ("ferries", "what was the costliest repair and who did it?", {"Alba", "Reid", 900.0}),
        ("ferries", "how long was the longest wait and which skipper was on duty?", {"Muir", 35.0}),
        ("ferries", "the longest wait, and how good was the skipper?", {"Brae", "Muir"}),
        ("ferries", "which harbour had the costliest ferry", {"Oban", 900.0}),
        ("ferries", "the last ferry of Reid", {"Coll"}),
        ("ferries", "where does Coll rank in repair cost?", {"Coll", 2, 400.0}),
        ("ferries", "what is the rank of Brae by fault, 1 = lowest", {"Brae", 4}),
        ("ferries", "where does Tiree rank in repair cost?", {"Tiree", 2, 700.0}),
        ("ferries", "two ferries with the highest fault rate", {"Brae", 4.5}),
        ("ferries", "how many ferries since 2012", {2}),
        ("ferries", "number of ferries before 2000", {1}),
        ("readings", "are there duplicate rows?", {2, 1}),
    ],
)
def test_the_row_that_is_asked_for_is_among_the_first(
    table: str, question: str, cells: set[Any], database: duckdb.DuckDBPyConnection
) -> None:
    parsed = parse(table, question)
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = database.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
    assert cells <= set(rows[0]), rows


def test_named_rows_are_set_side_by_side(database: duckdb.DuckDBPyConnection) -> None:
    parsed = parse("ferries", "Brae vs Dunn: compare all figures")
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = database.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
    assert [row[0] for row in rows] == ["Brae", "Dunn"]
    assert len(rows[0]) == len(SCHEMAS["ferries"])


@pytest.mark.parametrize(
    "question",
    [
        "what was the costliest repair and who had the fewest?",
        "number of ferries before 1960",
        "are there duplicate skippers?",
    ],
)
def test_what_no_row_answers_is_not_taken_for_a_row(question: str, database: duckdb.DuckDBPyConnection) -> None:
    parsed = parse("ferries", question)
    if isinstance(parsed, ParsedQuestion):
        rows = database.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
        assert "built" not in parsed.columns
        assert not {"Coll", "Alba"} & {cell for row in rows for cell in row}


def test_years_of_a_column_are_told() -> None:
    parsed = parse("ferries", "number of ferries before 2000")
    assert "Years are those of `built`." in parsed.interpretations


def test_a_correlation_of_several_words_is_of_two_columns() -> None:
    parsed = parse("ferries", "how strongly is the wait correlated with the cost of the repair?")
    assert isinstance(parsed, ParsedQuestion), parsed
    assert set(parsed.columns) == {"wait_min", "repair_cost"}
