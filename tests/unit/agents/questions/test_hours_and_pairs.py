"""Questions with times of day, with two columns of a row, with scales, spellings and verbs that rank."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.matching.absent_values import describe_absence
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    (1, '2024-05-01 05:30:00', 'Aldo', 'Dora', 'Rossi', 'grey', 100, 110.0, 120.0, 40),
    (2, '2024-05-01 08:15:00', 'Aldo', 'Aldo', 'Greco', 'red', 300, 500.0, 450.0, 90),
    (3, '2024-05-02 09:45:00', 'Dora', 'Aldo', 'Rossi', 'grey', 400, 900.0, 950.0, 20),
    (4, '2024-05-03 18:00:00', 'Corno', 'Corno', 'Greco', 'red', 800, 1300.0, 1300.0, 150),
    (5, '2024-05-04 22:40:00', 'Dora', 'Corno', 'Rossi', 'grey', 900, 2500.0, 2600.0, 30)
"""
SCHEMAS: dict[str, TableSchema] = {
    "sailings": {
        "sailing": "integer",
        "berthed_at": "datetime",
        "entry": "text",
        "exit": "text",
        "skipper": "text",
        "hull_colour": "text",
        "toll_eur": "integer",
        "freight_t": "number",
        "planned_t": "number",
        "queue_min": "integer",
    },
}


def number(name: str, low: float, high: float, type_: str = "integer") -> Column:
    return Column(name, type_, "numeric", 5, low=low, high=high)  # type: ignore[arg-type]


def text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


TABLES = (
    TableProfile(
        "sailings",
        5,
        (
            Column("sailing", "integer", "id", 5, unique=True, low=1, high=5),
            Column(
                "berthed_at", "datetime", "datetime", 5, low="2024-05-01T05:30:00", high="2024-05-04T22:40:00"
            ),
            text("entry", "Aldo", "Dora", "Corno"),
            text("exit", "Dora", "Aldo", "Corno"),
            text("skipper", "Rossi", "Greco"),
            text("hull_colour", "grey", "red"),
            number("toll_eur", 100, 900),
            number("freight_t", 110.0, 2500.0, "number"),
            number("planned_t", 120.0, 2600.0, "number"),
            number("queue_min", 20, 150),
        ),
    ),
)


@pytest.fixture(scope="module")
def harbour() -> Iterator[duckdb.DuckDBPyConnection]:
    types = {"integer": "INTEGER", "number": "DOUBLE", "text": "VARCHAR", "datetime": "TIMESTAMP"}
    columns = ", ".join(f"{name} {types[kind]}" for name, kind in SCHEMAS["sailings"].items())
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE sailings ({columns})")
        connection.execute(f"INSERT INTO sailings VALUES {ROWS}")
        yield connection


def answer(question: str, harbour: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    return harbour.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "sailings"),
    [
        ("sailings after 6 pm", {4, 5}),
        ("sailings before 8:30", {1, 2}),
        ("sailings between 8 and 10 am", {2, 3}),
        ("sailings between 7 and 9 in the morning", {2}),
        ("sailings between 10 pm and 6 am", {1, 5}),
        ("sailings between midnight and noon", {1, 2, 3}),
        ("sailings in the morning", {1, 2, 3}),
        ("sailings with a queue between 29.30 and 50.30", {1, 5}),
        ("sailings that left where they entered", {2, 4}),
        ("sailings that did not leave where they entered", {1, 3, 5}),
        ("sailings with the same entry and exit", {2, 4}),
        ("sailings with more freight than planned", {2}),
        ("sailings whose freight was lower than planned", {1, 3, 5}),
        ("sailings with a freight above a thousand tonnes", {4, 5}),
        ("sailings with a queue of an hour or longer", {2, 4}),
        ("the two most recent sailings", {4, 5}),
    ],
)
def test_rows_that_meet_a_condition_are_listed(
    question: str, sailings: set[int], harbour: duckdb.DuckDBPyConnection
) -> None:
    assert {row[0] for row in answer(question, harbour)} == sailings


@pytest.mark.parametrize(
    ("question", "first_row"),
    [
        ("tolls collected by Greco", (1100,)),
        ("who collected the most money?", ("Rossi", 1400)),
        ("which skipper keeps people waiting longest?", ("Greco", 120.0)),
        ("how many sailings had a gray hull color?", (3,)),
        ("mean toll in the morning versus the evening", ("evening", 800.0)),
    ],
)
def test_figures_begin_with_the_first_row(
    question: str, first_row: tuple[Any, ...], harbour: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, harbour)[0] == first_row


@pytest.mark.parametrize(
    "question",
    [
        "sailings after 25 pm",
        "which toll grew by exit",
    ],
)
def test_what_has_no_meaning_is_not_answered(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)


def test_a_value_that_no_row_has_is_told() -> None:
    parsed = parse_question("how many sailings with a purple hull", TABLES)
    assert isinstance(parsed, UnparsedQuestion)
    assert "no row has it: `hull_colour` holds grey, red" in parsed.reason


def test_the_name_of_a_column_is_no_value_that_rows_lack() -> None:
    assert describe_absence("purple", TABLES)
    assert not describe_absence("colour", TABLES)
