"""Questions that list rows: the last ones, one by its key, those with a part of a text, a state or a denial."""

from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.schema import TableSchema

ROWS = 60


def text(name: str, *values: str, distinct: int = 0) -> Column:
    is_unique = distinct == ROWS
    hint = "id" if is_unique else "category"
    return Column(name, "text", hint, distinct or len(values), unique=is_unique, top=values, values=values)


def number(name: str, low: float, high: float, distinct: int = 40) -> Column:
    return Column(name, "integer", "numeric", distinct, low=low, high=high)


def date(name: str, missing: float = 0.0) -> Column:
    return Column(name, "datetime", "datetime", 50, missing=missing, low="2024-01-01", high="2025-12-31")


VANS = TableProfile(
    "vans", ROWS, (text("van", "TRK-1", "VAN-7", distinct=ROWS), number("max_load_kg", 800, 9000))
)
TESTS = TableProfile(
    "reaction_tests",
    ROWS,
    (
        number("Reaction", 190, 470),
        Column("Subject", "integer", "numeric", 12, low=308, high=350),
        Column("Days", "integer", "numeric", 5, low=0, high=9),
    ),
)
CASES = TableProfile(
    "cases",
    ROWS,
    (
        text("case_no", "C100", "C101", distinct=ROWS),
        text("ward", "Surgery", "Children"),
        text("consent", "yes", "no", "no consent"),
        number("age", 1, 95),
        date("admitted"),
        date("discharged", missing=0.2),
    ),
)
SALES = TableProfile(
    "bakery",
    ROWS,
    (
        Column("receipt", "integer", "numeric", 30, low=1000, high=1070),
        date("sold_on"),
        text("product", "Rye loaf", "Croissant", "Cheese cake"),
        number("pieces", 1, 9, 9),
        Column("piece_price", "number", "numeric", 7, low=1.1, high=5.0),
    ),
)
STATES = TableProfile(
    "offences",
    ROWS,
    (
        text("rownames", "Alabama", "Wyoming", distinct=ROWS),
        Column("Murder", "number", "numeric", 40, low=0.8, high=17.4),
    ),
)


@pytest.mark.parametrize(
    ("table", "question", "description"),
    [
        (VANS, "vans starting with TRK", "the rows, where `van` starts with 'trk', from `vans`"),
        (VANS, "vans ending in 7", "the rows, where `van` ends with '7', from `vans`"),
        (CASES, "cases not yet discharged", "the rows, where `discharged` is missing, from `cases`"),
        (CASES, "case C101", "the rows, where `case_no` is 'C101', from `cases`"),
        (CASES, "cases with no consent", "where `consent` is one of 'no consent', 'no'"),
        (CASES, "lines on the surgery ward", "the rows, where `ward` is 'Surgery', from `cases`"),
        (TESTS, "subject 335 on day 6", "the rows, where `Subject` is 335, where `Days` is 6"),
        (TESTS, "last 4 records please", "the rows, the last 4 rows, from `reaction_tests`"),
        (SALES, "last 4 records please", "the rows, the highest `sold_on` first, the first 4 rows"),
        (SALES, "monthly sales 2024", "the total of (`piece_price` * `pieces`) for each `month`"),
        (SALES, "top 3 products by sales", "the total of (`piece_price` * `pieces`) for each `product`"),
        (
            STATES,
            "five most dangerous states by murder rate",
            "the rows, the highest `Murder` first, the first 5",
        ),
    ],
)
def test_rows_are_listed(table: TableProfile, question: str, description: str) -> None:
    parsed = parse_question(question, [table])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert description in parsed.description


def test_the_last_rows_without_a_time_are_those_at_the_end_of_the_table() -> None:
    parsed = parse_question("show me the last 3 rows", [TESTS])
    assert isinstance(parsed, ParsedQuestion)
    assert "The last rows are those at the end of the table as it was uploaded." in parsed.interpretations
    schema: TableSchema = {"Reaction": "integer", "Subject": "integer", "Days": "integer"}
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE reaction_tests AS SELECT 500 - i AS Reaction, i AS Subject, i % 10 AS Days"
            " FROM range(60) t(i)"
        )
        sql = compile_plan(parsed.plan, {"reaction_tests": schema}).sql
        rows: list[tuple[Any, ...]] = database.execute(sql).fetchall()
    assert rows == [(443, 57, 7), (442, 58, 8), (441, 59, 9)]
    assert describe_plan(parsed.plan) == "the rows, the last 3 rows, from `reaction_tests`"


def test_a_number_of_many_rows_is_no_key() -> None:
    assert not isinstance(parse_question("age 30", [CASES]), ParsedQuestion)
