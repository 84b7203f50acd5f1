"""Questions in plain words, and what they come to when their plan is run over a small table."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile, make_table_profile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import is_question, parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    ('Ada', '1st', 'female', 40.0, 1, 100.0, DATE '2024-01-01'),
    ('Bea', '1st', 'female', 20.0, 1, 80.0, DATE '2024-01-02'),
    ('Carl', '2nd', 'male', 60.0, 0, 30.0, DATE '2024-01-03'),
    ('Dan', '2nd', 'male', NULL, 1, 20.0, DATE '2024-02-04'),
    ('Eva', '3rd', 'female', 10.0, 0, 8.0, DATE '2024-02-05'),
    ('Fin', '3rd', 'male', 30.0, 0, 7.0, DATE '2024-02-06'),
    ('Gus', '3rd', 'male', 50.0, 0, NULL, DATE '2025-02-07')
"""
COLUMNS = ("name", "class", "sex", "age", "survived", "fare_gbp", "boarded_on")


def column(name: str, hint: str, distinct: int, *top: Any, **more: Any) -> dict[str, Any]:
    kinds = {"numeric": "number", "datetime": "datetime", "boolean": "integer"}
    base = {"name": name, "type": kinds.get(hint, "text"), "hint": hint, "distinct": distinct, "missing": 0.0}
    return {**base, "unique": False, "top": [{"value": value, "count": 1} for value in top], **more}


PASSENGERS = make_table_profile(
    {
        "table": "passengers",
        "rows": 7,
        "columns": [
            column("name", "text", 7, unique=True),
            column("class", "category", 3, "3rd", "1st", "2nd"),
            column("sex", "category", 2, "male", "female"),
            column("age", "numeric", 6, missing=1 / 7),
            column("survived", "boolean", 2, 0, 1),
            column("fare_gbp", "numeric", 6, missing=1 / 7),
            column("boarded_on", "datetime", 7, min="2024-01-01", max="2025-02-07"),
        ],
    }
)


SCHEMAS: dict[str, TableSchema] = {
    "passengers": {
        "name": "text",
        "class": "text",
        "sex": "text",
        "age": "number",
        "survived": "integer",
        "fare_gbp": "number",
        "boarded_on": "datetime",
    }
}


@pytest.fixture(scope="module")
def ask() -> Any:
    with duckdb.connect() as connection:
        columns = ", ".join(COLUMNS)
        typed = "age::DOUBLE AS age, fare_gbp::DOUBLE AS fare_gbp, boarded_on::TIMESTAMP AS boarded_on"
        rows = f"SELECT * REPLACE ({typed}) FROM (VALUES {ROWS}) AS t({columns})"
        connection.execute(f"CREATE TABLE passengers AS {rows}")

        def asked(question: str) -> list[tuple[Any, ...]]:
            parsed = parse_question(question, [PASSENGERS])
            assert isinstance(parsed, ParsedQuestion), parsed
            return connection.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()

        yield asked


ANSWERS: Mapping[str, list[tuple[Any, ...]]] = {
    "How many passengers are there?": [(7,)],
    "How many women survived?": [(2,)],
    "How many passengers died?": [(4,)],
    "How many did not survive, by class?": [("2nd", 1), ("3rd", 3)],
    "What is the mean age of survivors by class?": [("1st", 30.0)],
    "What is the total fare?": [(245.0,)],
    "Mean and median of age": [(35.0, 35.0)],
    "What is the average fare of men in 2nd class?": [(25.0,)],
    "What share of women survived?": [(2 / 3, 2)],
    "What percentage of the survivors were women?": [(2 / 3, 2)],
    "What fraction of men in third class survived?": [(0.0, 0)],
    "How many passengers have no fare?": [(1,)],
    "Who were the two oldest passengers?": [
        ("Carl", datetime(2024, 1, 3), 60.0),
        ("Gus", datetime(2025, 2, 7), 50.0),
    ],
    "survival rate by sex": [("female", 2 / 3), ("male", 0.25)],
    "Which class has the highest survival rate?": [("1st", 1.0)],
    "Which class has the lowest mean fare?": [("3rd", 7.5)],
    "Which class has the most passengers?": [("3rd", 3)],
    "bottom 2 classes by mean fare": [("3rd", 7.5), ("2nd", 25.0)],
    "When did the last passenger board?": [(datetime(2025, 2, 7),)],
    "number of passengers from January to February by sex": [("female", 3), ("male", 4)],
    "What are the top 2 classes by total fare?": [("1st", 180.0), ("2nd", 50.0)],
    "Which passenger paid the highest fare?": [("Ada", datetime(2024, 1, 1), 100.0)],
    "Who was the youngest passenger?": [("Eva", datetime(2024, 2, 5), 10.0)],
    "How old was the oldest passenger?": [("Carl", datetime(2024, 1, 3), 60.0)],
    "What is the most common class?": [("3rd", 3)],
    "How many different classes are there?": [(3,)],
    "Which classes are there?": [("3rd", 3), ("1st", 2), ("2nd", 2)],
    "How many values of age are missing?": [(1, 1 / 7)],
    "What share of fare is missing?": [(1 / 7,)],
    "How many passengers are older than 35?": [(3,)],
    "How many passengers paid a fare between 20 and 80?": [(3,)],
    "How many passengers are under 18?": [(1,)],
    "How many passengers are not in 3rd class?": [(4,)],
    "How many rows are there since 2024-02-05?": [(3,)],
    "How many rows are there in January 2024?": [(3,)],
    "number of rows by month": [
        (datetime(2024, 1, 1), 3),
        (datetime(2024, 2, 1), 3),
        (datetime(2025, 2, 1), 1),
    ],
    "Compare the mean age of men and women": [("female", 70 / 3), ("male", 140 / 3)],
    "number of rows by class and sex": [
        ("1st", "female", 2),
        ("2nd", "male", 2),
        ("3rd", "female", 1),
        ("3rd", "male", 2),
    ],
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_comes_to_what_the_rows_say(ask, question):
    rows = ask(question)
    assert [
        [cell if isinstance(cell, datetime) else pytest.approx(cell) for cell in row]
        for row in ANSWERS[question]
    ] == [[*row] for row in rows]


def test_customers_are_counted_once_where_a_column_numbers_them():
    columns = [column("customer_id", "category", 3), column("amount", "numeric", 9)]
    read = parse_question(
        "How many customers are there?",
        [make_table_profile({"table": "orders", "rows": 9, "columns": columns})],
    )
    assert isinstance(read, ParsedQuestion)
    assert "the number of different `customer_id`" in read.description


def test_a_quote_in_a_value_stays_a_value(ask):
    assert ask("""How many rows where `name` is "x' OR 1=1 --"?""") == [(0,)]


@pytest.mark.parametrize(
    "goal",
    [
        "Predict the mean age by class",
        "How many bikes will be rented tomorrow?",
        "Which customers are most likely to leave?",
        "What are the most important factors of survival?",
        "Which species is a penguin?",
        "Build the best model you can",
        "How much will a house sell for?",
        "Forecast the total sales of next month",
        "Who survived? Ignore the cabin and any ids.",
        "Predict the quality as a number, judged by mean absolute error",
        "Find fraud",
        "Who leaves? Missing a churner is three times as bad as a false alarm",
        "Who leaves? Keep the mean absolute percentage error low",
    ],
)
def test_a_goal_of_prediction_is_no_question_about_the_rows(goal):
    assert not is_question(goal)


@pytest.mark.parametrize(
    "goal", ["top 3 classes by mean fare", "Which islands are there?", "List the classes", *ANSWERS]
)
def test_a_question_about_the_rows_is_one(goal):
    assert is_question(goal)


def test_an_ambiguous_word_offers_its_readings() -> None:
    bills = TableProfile(
        "birds",
        300,
        (
            Column("species", "text", "category", 3, top=("a", "b", "c")),
            Column("bill_length_mm", "number", "numeric", 100, low=30, high=60),
            Column("bill_depth_mm", "number", "numeric", 100, low=10, high=25),
        ),
    )
    parsed = parse_question("What is the average bill by species?", [bills])
    assert isinstance(parsed, UnparsedQuestion)
    assert "'bill' could be `bill_length_mm`, `bill_depth_mm`" in parsed.reason
    offered = [reading.description for reading in parsed.readings]
    assert offered[:2] == [
        f"the mean of `bill_{name}_mm` for each `species`, from `birds`" for name in ("length", "depth")
    ]
    chosen = parsed.find_reading(offered[1])
    assert chosen
    assert chosen.confidence == 1.0
    assert "bill_depth_mm" in chosen.columns
    assert parsed.find_reading("the mean of `weight`") is None


def test_a_question_with_an_unknown_word_offers_what_the_others_say() -> None:
    visits = TableProfile(
        "visits",
        300,
        (
            Column("physician", "text", "category", 3, top=("Holm", "Silva", "Kolb")),
            Column("wait_min", "number", "numeric", 100, low=0, high=90),
        ),
    )
    parsed = parse_question("What is the average wait_min by physician of zebras?", [visits])
    assert isinstance(parsed, UnparsedQuestion)
    assert "'zebras'" in parsed.reason
    assert parsed.readings[0].description == "the mean of `wait_min` for each `physician`, from `visits`"
