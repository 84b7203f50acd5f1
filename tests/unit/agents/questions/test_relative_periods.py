"""Periods counted from the latest day of the data: `last month`, `this year and last year`, `yesterday`."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

DAYS = 420
SCHEMA: TableSchema = {"day": "datetime", "shop": "text", "sales": "number"}


def make_profile(low: str, high: str, distinct: int) -> TableProfile:
    return TableProfile(
        "till",
        DAYS,
        (
            Column("day", "datetime", "datetime", distinct, low=low, high=high),
            Column("shop", "text", "category", 2, top=("Ayr", "Bath"), values=("Ayr", "Bath")),
            Column("sales", "number", "numeric", 12, low=1.0, high=12.0),
        ),
    )


DAILY = make_profile("2025-09-01T00:00:00", "2026-10-25T00:00:00", DAYS)
MONTHLY = make_profile("2024-01-01T00:00:00", "2026-10-01T00:00:00", 34)
"""Each first of a month stands for all of it, the last one too."""


@pytest.fixture(scope="module")
def till() -> Iterator[duckdb.DuckDBPyConnection]:
    """One row a day; the sales are the number of the month."""
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE till AS SELECT d AS day, if(day(d) % 2 = 0, 'Ayr', 'Bath') AS shop,"
            " CAST(month(d) AS DOUBLE) AS sales"
            " FROM range(timestamp '2025-09-01', timestamp '2026-10-26', interval 1 day) AS days(d)"
        )
        yield connection


def parse(question: str, table: TableProfile = DAILY) -> ParsedQuestion:
    parsed = parse_question(question, [table])
    assert isinstance(parsed, ParsedQuestion), parsed
    return parsed


def answer(question: str, connection: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return connection.execute(compile_plan(parse(question).plan, {"till": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("total sales last month", [(270.0,)]),
        ("total sales in the last month", [(270.0,)]),
        ("total sales this month", [(250.0,)]),
        ("how many rows last week", [(7,)]),
        ("how many rows this year", [(298,)]),
        ("number of rows last year", [(122,)]),
        ("number of rows so far this year", [(298,)]),
        ("number of rows year to date", [(298,)]),
        ("number of rows last quarter", [(92,)]),
        ("total sales yesterday", [(10.0,)]),
        ("number of rows in Ayr since last month", [(27,)]),
        ("number of rows in the last 30 days", [(30,)]),
        ("number of rows in the past year", [(365,)]),
        ("number of rows in the last quarter of 2025", [(92,)]),
        ("compare total sales this month and last month", [("2026-09", 270.0), ("2026-10", 250.0)]),
        (
            "compare total sales last month and the previous month",
            [("2026-08", 248.0), ("2026-09", 270.0)],
        ),
        ("number of rows yesterday vs today", [("2026-10-24", 1), ("2026-10-25", 1)]),
        ("number of rows this quarter vs last quarter", [("2026Q3", 92), ("2026Q4", 25)]),
        ("number of rows this year vs last year", [(2025, 122), (2026, 298)]),
    ],
)
def test_periods_count_from_the_latest_day(
    question: str, rows: list[tuple[Any, ...]], till: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, till) == rows


@pytest.mark.parametrize(
    ("low", "high", "first"),
    [
        ("2019-01-01T00:00:00", "2023-12-31T00:00:00", "2022-01-01"),
        ("2019-01-01T00:00:00", "2024-02-29T00:00:00", "2022-03-01"),
        # Monthly figures: 24 months end with that of February.
        ("2019-01-01T00:00:00", "2024-02-01T00:00:00", "2022-02-02"),
    ],
)
def test_years_counted_back_begin_on_the_day_after_the_latest_one(low: str, high: str, first: str) -> None:
    plan = parse("total sales in the last 2 years", make_profile(low, high, 60)).plan

    assert first in plan.model_dump_json()


def test_a_change_between_two_periods_has_its_difference_first(till: duckdb.DuckDBPyConnection) -> None:
    ((difference, relative, later, earlier),) = answer(
        "how did total sales change from last month to this month", till
    )

    assert (difference, later, earlier) == (-20.0, 250.0, 270.0)
    assert relative == pytest.approx(-20 / 270)


def test_periods_of_different_lengths_are_asked_about() -> None:
    assert not isinstance(parse_question("total sales this month vs last year", [DAILY]), ParsedQuestion)


def test_what_a_period_was_taken_for_is_said() -> None:
    notes = " ".join(parse("total sales last month").interpretations)

    assert "'last month' is 2026-09, counted from 2026-10-25, the latest day of `day`" in notes


def test_the_last_month_of_monthly_figures_is_that_of_their_latest_row() -> None:
    assert "2026-10" in " ".join(parse("total sales last month", MONTHLY).interpretations)


def test_the_last_year_of_a_column_of_years_is_its_highest() -> None:
    table = TableProfile(
        "births",
        40,
        (
            Column("year", "integer", "numeric", 40, low=1981, high=2020),
            Column("births", "integer", "numeric", 40, low=10, high=900),
        ),
    )

    parsed = parse_question("total births last year", [table])

    assert isinstance(parsed, ParsedQuestion)
    assert "2020" in compile_plan(parsed.plan, {"births": {"year": "integer", "births": "integer"}}).sql
