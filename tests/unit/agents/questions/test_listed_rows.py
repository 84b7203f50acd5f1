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


RIDES = TableProfile(
    "rides",
    ROWS,
    (
        Column("ride_id", "integer", "id", ROWS, unique=True, low=1, high=ROWS),
        Column("from_station", "integer", "numeric", 9, low=1, high=9),
        Column("to_station", "integer", "numeric", 9, low=1, high=9),
    ),
)
WEATHER = TableProfile(
    "weather",
    ROWS,
    (
        Column("day", "datetime", "datetime", ROWS, unique=True, low="2024-05-01", high="2024-06-29"),
        Column("rain_mm", "number", "numeric", 30, low=0.0, high=30.0),
        Column("temp_max", "number", "numeric", 30, low=3.0, high=31.0),
        Column("temp_min", "number", "numeric", 30, low=-6.0, high=17.0),
        Column("wind_kmh", "number", "numeric", 30, low=0.0, high=60.0),
        text("sky", "clear", "storm"),
    ),
)
FINALS = TableProfile(
    "finals",
    ROWS,
    (
        Column("year", "integer", "numeric", 30, low=1990, high=2019),
        text("event", "Singles", "Doubles"),
        text("name", "Bly", "Holt", "Ruiz", distinct=9),
    ),
)
CONTRACTS = TableProfile(
    "contracts",
    ROWS,
    (
        text("contract_no", "C-1", "C-2", distinct=ROWS),
        text("customer", "Bly Ltd", "Holt Ltd", distinct=20),
        date("start"),
        date("end", missing=0.4),
    ),
)
HOMES = (
    TableProfile(
        "households",
        20,
        (
            Column("household_id", "integer", "id", 20, unique=True, low=1, high=20),
            text("solar", "no", "yes"),
            text("heating", "gas", "heat pump", "oil"),
        ),
    ),
    TableProfile(
        "bills",
        200,
        (
            Column("household_id", "integer", "id", 20, low=1, high=20),
            Column("amount", "number", "numeric", 150, low=20.0, high=400.0),
        ),
    ),
)
PUPILS = TableProfile(
    "pupils",
    ROWS,
    (
        text("pupil", "Ada", "Ben", distinct=ROWS),
        date("born"),
        number("mother_age", 28, 55),
        number("father_age", 28, 60),
        date("left_on", missing=0.9),
    ),
)


@pytest.mark.parametrize(
    ("tables", "question", "description"),
    [
        (RIDES, "how many rides began and ended at the same station", "where `from_station` is `to_station`"),
        (RIDES, "rides where start and end are at the same place", "where `from_station` is `to_station`"),
        (WEATHER, "how many dry days were there in May 2024", "where `rain_mm` is 0"),
        (WEATHER, "number of rainy days per month", "for each `month`, where `rain_mm` is above 0"),
        (
            WEATHER,
            "days with frost and wind above 40",
            "where `wind_kmh` is above 40, where `temp_min` is below 0",
        ),
        (FINALS, "who was the singles champion of 1994", "where `year` is 1994, where `event` is 'Singles'"),
        (FINALS, "number of distinct champions", "the number of different `name`, from `finals`"),
        (FINALS, "rows & names?", "the number of rows and the number of different `name`"),
        (FINALS, "any nulls?", "the missing values of all columns together, and the number of columns with"),
        (
            CONTRACTS,
            "how many contracts were running on 31 Dec 2024",
            "where `start` is below 2025-01-01 and `end` is missing or `end` is at least 2025-01-01",
        ),
        (HOMES, "how many homes have solar but no heat pump", "where `solar` is 'yes', where not (`heating`"),
        (PUPILS, "youngest pupil in the school", "ranked by the highest `born`, the first only"),
        (PUPILS, "average age of the dads", "the mean of `father_age`"),
        (CASES, "how many cases were treated", "the number of rows, from `cases`"),
    ],
)
def test_states_places_and_nouns_of_rows_are_understood(
    tables: TableProfile | tuple[TableProfile, ...], question: str, description: str
) -> None:
    parsed = parse_question(question, tables if isinstance(tables, tuple) else [tables])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert description in parsed.description


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (WEATHER, "how many snowy days"),
        (CONTRACTS, "contracts running in 2024"),
        (CONTRACTS, "contracts at the same place"),
        (PUPILS, "youngest pupil in the choir"),
    ],
)
def test_a_state_that_no_column_tells_is_asked_about(table: TableProfile, question: str) -> None:
    assert not isinstance(parse_question(question, [table]), ParsedQuestion)
