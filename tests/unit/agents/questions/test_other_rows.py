"""Rows that a question sets against those of its condition, and the margin between their figures."""

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = "('P1', 10, 30, 'Eye'), ('P1', 20, 50, 'Heart'), ('P2', 60, 10, 'Eye'), ('P3', 70, 20, 'Bone')"
SCHEMA: TableSchema = {"patient": "text", "age": "integer", "wait_min": "integer", "ward": "text"}
PATIENTS, WARDS = ("P1", "P2", "P3"), ("Eye", "Heart", "Bone")
TABLES = (
    TableProfile(
        "visits",
        4,
        (
            Column("patient", "text", "category", 3, top=PATIENTS, values=PATIENTS),
            Column("age", "integer", "numeric", 4, low=10, high=70),
            Column("wait_min", "integer", "numeric", 4, low=10, high=50),
            Column("ward", "text", "category", 3, top=WARDS, values=WARDS),
        ),
    ),
)


def _answer(question: str) -> list[tuple[object, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE visits AS FROM (VALUES {ROWS}) AS t ({', '.join(SCHEMA)})")
        return database.execute(compile_plan(parsed.plan, {"visits": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    "question",
    [
        "average wait in the Eye ward and in the other wards",
        "average wait in the Eye ward compared with elsewhere",
        "average wait in the Eye ward versus all other wards",
        "mean wait in the Eye ward and in the rest of the wards",
        "mean wait in the Eye ward against everywhere else",
    ],
)
def test_other_rows_are_those_without_the_value(question: str) -> None:
    assert {row[1] for row in _answer(question)} == {20, 35}


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        (
            "is the wait longer for patients under 50 than for the other patients",
            [(True, 40, True), (False, 15, False)],
        ),
        (
            "is the wait longer for patients under 50 than for other patients, and by how much",
            [(True, 40, True, 25), (False, 15, False, -25)],
        ),
    ],
)
def test_a_comparison_says_its_margin_if_that_is_asked(question: str, rows: list[tuple[object, ...]]) -> None:
    assert _answer(question) == rows


@pytest.mark.parametrize(
    "question",
    [
        "average wait in the Eye ward and in the other towns",
        "average wait versus the others",
    ],
)
def test_others_and_margins_of_nothing_are_asked_about(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)
