"""Questions about yes/no columns, things that come back, and rates: answers over a table of deliveries."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.unit.agents.questions.query_answers import answer, open_tables

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    (1, 'Ann Ek', 'North', 'van', 'no', 0, 10.0, 20.0), (2, 'Ann Ek', 'North', 'bike', 'yes', 1, 20.0, 30.0),
    (3, 'Bo Lund', 'South', 'van', 'no', 1, 30.0, 40.0), (4, 'Bo Lund', 'South', 'van', 'yes', 0, 40.0, 50.0),
    (5, 'Bo Lund', 'North', 'bike', 'no', 0, 50.0, 60.0), (6, 'Cy Marsh', 'South', 'van', 'no', 0, 60.0, 70.0)
"""
NAMES = (
    "delivery_id",
    "customer_name",
    "depot",
    "vehicle",
    "arrived_late",
    "readmitted",
    "weight_kg",
    "price_eur",
)
SCHEMA: TableSchema = dict(
    zip(NAMES, ("integer", "text", "text", "text", "text", "integer", "number", "number"), strict=True)
)


def make_text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


def make_number(name: str, low: float, high: float) -> Column:
    return Column(name, "number", "numeric", 6, low=low, high=high)


DELIVERIES = TableProfile(
    "deliveries",
    6,
    (
        Column("delivery_id", "integer", "id", 6, unique=True, low=1, high=6),
        make_text("customer_name", "Ann Ek", "Bo Lund", "Cy Marsh"),
        make_text("depot", "North", "South"),
        make_text("vehicle", "van", "bike"),
        make_text("arrived_late", "no", "yes"),
        Column("readmitted", "integer", "boolean", 2, low=0, high=1, top=(0, 1), values=(0, 1)),
        make_number("weight_kg", 10, 60),
        make_number("price_eur", 20, 70),
    ),
)


@pytest.fixture(scope="module")
def deliveries() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE deliveries AS FROM (VALUES {ROWS}) AS rows ({', '.join(NAMES)})")
        yield connection


ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "late rate by vehicle": [("bike", 0.5), ("van", 0.25)],
    "what percentage of deliveries are late?": [(1 / 3, 2)],
    "how many deliveries over 25 kg were on time": [(3,)],
    "how many deliveries did not arrive late": [(4,)],
    "revenue by depot": [("North", 110.0), ("South", 160.0)],
    "number of deliveries per customer": [("Ann Ek", 2), ("Bo Lund", 3), ("Cy Marsh", 1)],
    "how many customers are there": [(3,)],
    "customers with more than 2 deliveries": [("Bo Lund", 3)],
    "what proportion of bikes were in North": [(1.0, 2)],
}


@pytest.mark.parametrize("question", ANSWERS)
def test_the_answer_is_that_of_the_rows(question: str, deliveries: duckdb.DuckDBPyConnection) -> None:
    parsed = parse_question(question, [DELIVERIES])
    assert isinstance(parsed, ParsedQuestion), parsed
    rows = deliveries.execute(compile_plan(parsed.plan, {"deliveries": SCHEMA}).sql).fetchall()
    expected = ANSWERS[question]
    assert [len(row) for row in rows] == [len(row) for row in expected]
    for row, wanted in zip(sorted(rows), sorted(expected), strict=True):
        assert row == pytest.approx(wanted)


def test_a_word_with_a_prefix_is_another_word(deliveries: duckdb.DuckDBPyConnection) -> None:
    parsed = parse_question("how many deliveries were admitted", [DELIVERIES])
    assert not isinstance(parsed, ParsedQuestion) or "readmitted" not in parsed.columns


def test_no_figure_is_taken_of_numbers_that_only_name_things() -> None:
    numbered = TableProfile(
        "trips", 6, (Column("customer_id", "integer", "numeric", 3, low=1, high=3), *DELIVERIES.columns[2:])
    )
    parsed = parse_question("who is the biggest customer", [numbered])
    assert not isinstance(parsed, ParsedQuestion) or "max" not in parsed.plan.model_dump_json()


CARS = TableProfile(
    "cars",
    6,
    (
        Column("car_id", "integer", "id", 6, unique=True, low=1, high=6),
        make_text("make", "BMW", "Kia"),
        Column("accident_free", "boolean", "boolean", 2),
    ),
)
CAR_ROWS = """
    (1, 'BMW', true), (2, 'BMW', false), (3, 'BMW', true), (4, 'Kia', true), (5, 'Kia', true), (6, 'BMW', true)
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many BMWs are there", [(4,)]),
        ("how many accident-free BMWs are there", [(3,)]),
        ("how many cars are accident free", [(5,)]),
        ("what share of cars had an accident", [(1 / 6, 1)]),
    ],
)
def test_initials_have_plurals_and_a_name_may_deny_what_is_asked(
    question: str, expected: list[tuple[Any, ...]]
) -> None:
    with open_tables({CARS: CAR_ROWS}) as connection:
        assert answer(connection, question, CARS) == [pytest.approx(row) for row in expected]
