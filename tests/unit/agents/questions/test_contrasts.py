"""Rows that are set against the others, relative clauses that restrict, and spans of time by their nouns."""

from datetime import date

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.schema import TableSchema

ROWS = """
    ('S1', 'Ida', 'Rome', true, 'no', 30, 90, DATE '2024-01-02', DATE '2024-01-06'),
    ('S2', 'Jon', 'Oslo', false, 'no', 40, 30, DATE '2024-01-03', DATE '2024-01-05'),
    ('S3', 'Ida', 'Oslo', true, 'yes', 50, 60, DATE '2024-02-01', NULL),
    ('S4', 'Kim', 'Rome', false, 'yes', 60, 120, DATE '2024-02-07', DATE '2024-02-16')
"""
SCHEMA: TableSchema = {
    "subscription_id": "text",
    "client": "text",
    "home_town": "text",
    "insured": "boolean",
    "cancelled": "text",
    "age": "integer",
    "km_driven": "integer",
    "shipped_on": "datetime",
    "delivered_on": "datetime",
}


def _number(name: str, low: int, high: int) -> Column:
    return Column(name, "integer", "numeric", 4, low=low, high=high)


def _text(name: str, *values: str, unique: bool = False) -> Column:
    hint = "id" if unique else "category"
    return Column(name, "text", hint, len(values), unique=unique, top=values, values=values)


def _date(name: str, missing: float, low: date, high: date) -> Column:
    return Column(name, "datetime", "datetime", 4, missing=missing, low=low.isoformat(), high=high.isoformat())


TABLES = (
    TableProfile(
        "subscriptions",
        4,
        (
            _text("subscription_id", "S1", "S2", "S3", "S4", unique=True),
            _text("client", "Ida", "Jon", "Kim"),
            _text("home_town", "Rome", "Oslo"),
            Column("insured", "boolean", "category", 2),
            _text("cancelled", "no", "yes"),
            _number("age", 30, 60),
            _number("km_driven", 30, 120),
            _date("shipped_on", 0.0, date(2024, 1, 2), date(2024, 2, 7)),
            _date("delivered_on", 0.25, date(2024, 1, 5), date(2024, 2, 16)),
        ),
    ),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("average age of those who cancelled versus those who stayed", [("no", 35), ("yes", 55)]),
        ("average age of clients who cancelled and those who did not", [("no", 35), ("yes", 55)]),
        ("average age of cancelled versus non-cancelled clients", [("no", 35), ("yes", 55)]),
        ("how many stayed and how many cancelled", [("no", 2), ("yes", 2)]),
        ("average age of those who stayed", [(35,)]),
        ("compare the average age of insured and uninsured clients", [(False, 50), (True, 40)]),
        ("average km driven by people who cancelled", [(90,)]),
        ("average delivery time", [(5,)]),
        ("average delivery time by town", [("Oslo", 2), ("Rome", 6.5)]),
        ("clients with at least 2 towns", [("Ida", 2)]),
        ("average age of insured or cancelled subscriptions", [(pytest.approx(140 / 3),)]),
        ("number of subscriptions in January, February and March", [(1, 2), (2, 2)]),
        ("number of subscriptions in 2022, 2023 and 2024", [(2024, 4)]),
        ("how many subscriptions were shipped in winter", [(4,)]),
        ("difference in average age between clients with and without insurance", [(-10, 40, 50)]),
    ],
)
def test_a_contrast_comes_to_what_the_rows_say(question: str, answer: list[tuple[object, ...]]) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE subscriptions AS FROM (VALUES {ROWS}) AS t ({', '.join(SCHEMA)})")
        rows = database.execute(compile_plan(parsed.plan, {"subscriptions": SCHEMA}).sql).fetchall()
    assert sorted(row[: len(answer[0])] for row in rows) == sorted(answer)


@pytest.mark.parametrize(
    "question",
    ["average age of those who wrestle", "the 3 most agile subscriptions", "average age of those who played"],
)
def test_a_clause_that_nothing_explains_is_asked_about(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)


def test_rows_that_must_have_a_value_are_told_unless_a_figure_needs_it() -> None:
    parsed = parse_question("average age of subscriptions that were delivered", TABLES)
    assert isinstance(parsed, ParsedQuestion)
    assert "where `delivered_on` is given" in describe_plan(parsed.plan)
    assert "given" not in describe_plan(parse_question("average age by town", TABLES).plan)  # type: ignore[union-attr]
