"""Spans of months and days that run over the end of a year, and days that no month has."""

from dataclasses import replace

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    (1, '2012-11-03', 10), (2, '2012-12-05', 20), (3, '2013-01-07', 30), (4, '2013-02-09', 40),
    (5, '2013-06-11', 50), (6, '2013-11-13', 60), (7, '2013-12-24', 70)
"""
SCHEMAS: dict[str, TableSchema] = {
    "orders": {"order_id": "integer", "ordered_on": "datetime", "amount": "integer"}
}
TABLES = (
    TableProfile(
        "orders",
        7,
        (
            Column("order_id", "integer", "id", 7, unique=True, low=1, high=7),
            Column("ordered_on", "datetime", "datetime", 7, unique=True, low="2012-11-03", high="2013-12-24"),
            Column("amount", "integer", "numeric", 7, low=10, high=70),
        ),
    ),
)


def answer(question: str) -> int:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute("CREATE TABLE orders (order_id BIGINT, ordered_on TIMESTAMP, amount BIGINT)")
        database.execute(f"INSERT INTO orders VALUES {ROWS}")
        [[value]] = database.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()
    return int(value)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many orders from November to February?", 6),
        ("How many orders between November and February?", 6),
        ("What is the total amount from November to February 2013?", 100),
        ("What is the total amount from December 2012 to February?", 90),
        ("What is the total amount from January 2013 to June?", 120),
        ("How many orders between December 20 and January 10?", 2),
        ("How many orders between January 5 and February 20?", 2),
        ("How many orders between 5 January and 20 February?", 2),
        ("How many orders from 20th of December to the 10th of January?", 2),
        ("How many orders from 1 to 10 November?", 1),
        ("How many orders between December 4 and 20?", 1),
        ("What is the total amount from 4 December 2012 to 9 February 2013?", 90),
        ("What is the total amount from December 4 to February 9, 2013?", 90),
    ],
)
def test_spans_may_run_over_the_end_of_a_year(question: str, expected: int) -> None:
    assert answer(question) == expected


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("How many orders on 31 June 2013?", "June 2013 has no day 31."),
        ("How many orders on June 31?", "June has no day 31."),
        ("How many orders on 29 February 2013?", "February 2013 has no day 29."),
    ],
)
def test_a_day_that_its_month_does_not_have_is_asked_about(question: str, reason: str) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, UnparsedQuestion)
    assert parsed.reason == reason


def test_the_leap_day_of_any_year_is_a_day() -> None:
    assert answer("How many orders on February 29?") == 0


def test_a_time_is_not_two_months_at_once() -> None:
    parsed = parse_question("How many orders on 15 April and 15 May?", TABLES)
    assert isinstance(parsed, UnparsedQuestion)


def test_days_of_a_table_of_one_year_are_its_own() -> None:
    (orders,) = TABLES
    number, time, amount = orders.columns
    single = replace(orders, columns=(number, replace(time, low="2013-01-07"), amount))
    parsed = parse_question("How many orders between 5 January and 20 February?", (single,))
    assert isinstance(parsed, ParsedQuestion)
    assert "from 2013-01-05 to 2013-02-20" in parsed.description
