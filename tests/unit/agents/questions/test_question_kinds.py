"""Kinds of questions over one small table: changes, means of counts, ranges, spans of time, all and never."""

from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = """
    (1, 'Ash', '2022-01-03', '2022-01-05', 20, 100, 'yes', 'Mill', 'Dock'),
    (2, 'Ash', '2022-01-09', '2022-01-10', 30, 200, 'no', 'Dock', 'Mill'),
    (3, 'Oak', '2022-02-07', NULL, 40, 300, 'no', 'Mill', 'Mill'),
    (4, 'Ash', '2023-01-02', '2023-01-05', 50, 400, 'no', 'Dock', 'Dock'),
    (5, 'Oak', '2023-02-05', '2023-02-06', 60, 500, 'no', 'Mill', 'Dock'),
    (6, 'Elm', '2023-02-11', NULL, 70, 600, 'no', 'Dock', 'Mill')
"""
SCHEMAS: dict[str, TableSchema] = {
    "jobs": {
        "job": "integer",
        "customer": "text",
        "reported": "datetime",
        "fixed": "datetime",
        "age": "integer",
        "fee": "integer",
        "returned": "text",
        "from_yard": "text",
        "to_yard": "text",
    },
}


def number(name: str, low: int, high: int) -> Column:
    return Column(name, "integer", "numeric", 6, low=low, high=high)


def text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


def time(name: str, low: str, high: str, missing: float = 0.0) -> Column:
    return Column(name, "datetime", "datetime", 6, missing=missing, low=low, high=high)


TABLES = (
    TableProfile(
        "jobs",
        6,
        (
            Column("job", "integer", "id", 6, unique=True, low=1, high=6),
            text("customer", "Ash", "Oak", "Elm"),
            time("reported", "2022-01-03T00:00:00", "2023-02-11T00:00:00"),
            time("fixed", "2022-01-05T00:00:00", "2023-02-12T00:00:00", missing=1 / 3),
            number("age", 20, 70),
            number("fee", 100, 600),
            text("returned", "yes", "no"),
            text("from_yard", "Mill", "Dock"),
            text("to_yard", "Mill", "Dock"),
        ),
    ),
)


@pytest.fixture(scope="module")
def workshop() -> Iterator[duckdb.DuckDBPyConnection]:
    types = {"integer": "INTEGER", "text": "VARCHAR", "datetime": "TIMESTAMP"}
    columns = ", ".join(f"{name} {types[kind]}" for name, kind in SCHEMAS["jobs"].items())
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE jobs ({columns})")
        connection.execute(f"INSERT INTO jobs VALUES {ROWS}")
        yield connection


def answer(question: str, workshop: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    return workshop.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()


FIRST_ROWS: Mapping[str, tuple[Any, ...]] = {
    "how much did the fees grow from 2022 to 2023?": (900, 1.5),
    "By how much did the number of jobs change from December to February?": (3, None),
    "By how much did the number of jobs change from January to February?": (0, 0.0),
    "how much did the total fee rise between 2022 and 2023 in percent?": (900, 1.5),
    "how many jobs does a customer have on average?": (2.0,),
    "how many jobs per customer on average": (2.0,),
    "how much does a customer pay on average": (700.0,),
    "average monthly fee": (525.0,),
    "highest monthly fee": (1100,),
    "how long does it take on average to fix a job?": (1.75,),
    "average time between reported and fixed": (1.75,),
    "how many jobs have been fixed": (4,),
    "which customers never returned anything?": ("Elm",),
    "how many customers have never returned anything": (2,),
    "are all jobs from Mill fixed?": (False, 2, 3),
    "how many jobs went to Dock": (3,),
    "jobs that have not been fixed yet": (3,),
    "do jobs from Dock cost more than jobs from Mill on average, and by how much": ("Dock", 400.0, True, 100.0),
    "how many jobs were neither returned nor fixed": (2,),
    "how much higher is the mean fee of returned jobs than of the others": (-300.0,),
    "which customer has the highest share of returned jobs": ("Ash", 1 / 3),
    "which customer has the highest share of fees with returned jobs": ("Ash", 1 / 7),
    "number of jobs that went to Dock": (3,),
    "how many jobs are of people older than the average": (3,),
    "rank the customers by total fee": ("Oak", 800),
    "customers ranked by average age": ("Elm", 70.0),
    "are jobs from Dock more expensive than jobs from Mill?": ("Dock", 400.0, True),
    "are jobs from Mill more expensive than jobs from Dock?": ("Mill", 300.0, False),
    "did Ash have more jobs than Oak?": ("Ash", 3, True),
    "did Ash have more jobs than Oak in January?": ("Ash", 3, True),
    "were there fewer jobs of Oak than of Elm?": ("Oak", 2, False),
    "are jobs of Ash returned more often than jobs of Oak?": ("Ash", 1 / 3, 3, True),
    "is the share of returned jobs higher for Oak than for Ash?": ("Oak", 0.0, 2, False),
    "fee income by year of report": (2022, 600),
}


@pytest.mark.parametrize("question", FIRST_ROWS)
def test_a_figure_comes_to_what_the_rows_say(question: str, workshop: duckdb.DuckDBPyConnection) -> None:
    assert answer(question, workshop)[0][: len(FIRST_ROWS[question])] == FIRST_ROWS[question]


GROUPS: Mapping[str, list[tuple[Any, ...]]] = {
    "how many jobs by age in steps of 20?": [(20, 2), (40, 2), (60, 2)],
    "number of jobs, age in 20 year groups": [(20, 2), (40, 2), (60, 2)],
    "age bands of 20: how many jobs in each?": [(20, 2), (40, 2), (60, 2)],
    "total fee by customer, only customers with at least 2 jobs": [("Ash", 700, 3), ("Oak", 800, 2)],
    "number of jobs by age group: under 30, 30 to 49, 50 and over": [
        ("under 30", 1),
        ("30 to 49", 2),
        ("50 and over", 3),
    ],
    "compare the mean fee of people over 40 and under 40": [("under 40", 150.0), ("over 40", 500.0)],
    "average fee before 2023 versus after": [("before 2023", 200.0), ("2023 and after", 500.0)],
    "number of jobs on weekends vs weekdays": [(False, 3), (True, 3)],
}


@pytest.mark.parametrize("question", GROUPS)
def test_ranges_that_a_question_lists_are_groups(question: str, workshop: duckdb.DuckDBPyConnection) -> None:
    assert answer(question, workshop) == GROUPS[question]


def test_the_change_from_month_to_month_keeps_the_months(workshop: duckdb.DuckDBPyConnection) -> None:
    rows = answer("month over month change of the total fee", workshop)
    assert [row[1] for row in rows] == [300, 400, 1100]
    assert [row[2] for row in rows] == [0, 100, 700]


@pytest.mark.parametrize(
    "question", ["who paid the highest fee, and where?", "the highest fee: when, where and by whom?"]
)
def test_a_second_question_that_no_column_answers_is_asked_about(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)


@pytest.mark.parametrize(
    "question", ["jobs of people under 30 and at least 50", "jobs with a fee below 200 and above 400"]
)
def test_bounds_that_no_row_meets_are_not_answered(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)


def test_numbers_without_a_gap_name_rows() -> None:
    numbered = Column("ticket", "integer", "numeric", 40, unique=True, low=1, high=40)
    with_gaps = Column("ticket", "integer", "numeric", 40, unique=True, low=1, high=60)
    assert numbered.numbers_rows
    assert not with_gaps.numbers_rows


HOUSES = (
    TableProfile(
        "audits",
        60,
        (
            Column("house", "text", "id", 60, unique=True, examples=("H-001", "H-002")),
            text("village", "Aston", "Birk"),
            text("grade", "A", "B", "E"),
            Column("area_m2", "integer", "numeric", 50, low=40, high=320),
            Column("kwh_year", "integer", "numeric", 60, low=3000, high=60000),
        ),
    ),
)


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("how many houses are of grade E?", {"grade"}),
        ("largest house in every village", {"house", "village", "area_m2"}),
        ("which house has the most kwh and what grade does it have?", {"house", "kwh_year", "grade"}),
        ("in which village is the share of grade E houses highest?", {"village", "grade"}),
    ],
)
def test_codes_that_tell_rows_apart_name_them(question: str, columns: set[str]) -> None:
    parsed = parse_question(question, HOUSES)
    assert isinstance(parsed, ParsedQuestion), parsed
    assert set(parsed.columns) == columns
    assert not parsed.plan.model_dump_json().count("count_distinct")
