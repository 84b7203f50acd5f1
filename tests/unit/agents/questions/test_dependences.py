"""A number correlated with all others, the slope of one over another, and the extreme of each group."""

from dataclasses import replace

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = [("f", 20, 10.0, 60.0, 3), ("m", 30, 14.0, 40.0, 1), ("f", 40, 19.0, 30.0, 4), ("m", 50, 22.0, 10.0, 2)]
SCHEMA: TableSchema = {"sex": "text", "age": "integer", "cost": "number", "visits": "number", "week": "integer"}
TABLES = (
    TableProfile(
        "clients",
        4,
        (
            Column("sex", "text", "category", 2, top=("f", "m"), values=("f", "m")),
            Column("age", "integer", "numeric", 4, low=20, high=50),
            Column("cost", "number", "numeric", 4, low=10, high=22),
            Column("visits", "number", "numeric", 4, low=10, high=60),
            Column("week", "integer", "numeric", 4, low=1, high=4),
        ),
    ),
)


def _answer(question: str) -> list[tuple[object, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE clients (sex TEXT, age INTEGER, cost DOUBLE, visits DOUBLE, week INTEGER)"
        )
        database.executemany("INSERT INTO clients VALUES (?, ?, ?, ?, ?)", ROWS)
        return database.execute(compile_plan(parsed.plan, {"clients": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    "question",
    ["correlate the age with everything else, strongest first", "correlations of age with all other numbers"],
)
def test_a_number_is_correlated_with_all_others(question: str) -> None:
    assert [row[0] for row in _answer(question)] == ["cost", "visits"]


@pytest.mark.parametrize(
    "question",
    ["which number goes together best with the age", "which number is most strongly correlated with age"],
)
def test_the_strongest_correlation_of_a_number_is_one_row(question: str) -> None:
    assert [row[0] for row in _answer(question)] == ["cost"]


def test_the_strongest_pair_is_told_by_any_words_of_strength() -> None:
    assert set(_answer("which two numbers are most strongly correlated")[0][:2]) == {"age", "cost"}
    assert isinstance(parse_question("which two crimes go together most closely", TABLES), UnparsedQuestion)


@pytest.mark.parametrize(
    "question",
    [
        "slope of the cost over the age",
        "slope of cost on age over all clients",
        "by how much does the cost rise per additional age",
    ],
)
def test_a_slope_is_that_of_least_squares(question: str) -> None:
    assert _answer(question) == [(pytest.approx(0.41),)]


def test_a_slope_of_one_number_is_asked_about() -> None:
    assert isinstance(parse_question("slope of the cost", TABLES), UnparsedQuestion)


def test_rows_without_a_group_have_no_extreme() -> None:
    [table] = TABLES
    sex, *others = table.columns
    gaps = (replace(table, columns=(replace(sex, missing=0.2), *others)),)
    parsed = parse_question("oldest client of each sex", gaps)
    assert isinstance(parsed, ParsedQuestion)
    assert '"is_null"' in parsed.plan.model_dump_json()


@pytest.mark.parametrize("question", ["oldest woman and oldest man", "the oldest man versus the oldest woman"])
def test_two_extremes_are_those_of_both_groups(question: str) -> None:
    assert sorted(max(cell for cell in row if isinstance(cell, int)) for row in _answer(question)) == [40, 50]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("lowest, highest and average cost by sex", [("f", 10, 19, 14.5), ("m", 14, 22, 18)]),
        ("cheapest and highest cost of each sex", [("f", 10, 19), ("m", 14, 22)]),
    ],
)
def test_listed_extremes_are_figures_of_one_measure(question: str, rows: list[tuple[object, ...]]) -> None:
    assert _answer(question) == rows


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("clients with a cost above the mean - how many", 2),
        ("clients older than 25, how many are there?", 3),
        ("women over 30; count them", 1),
    ],
)
def test_the_end_of_a_question_may_ask_for_the_number(question: str, number: int) -> None:
    assert _answer(question)[0][0] == number
