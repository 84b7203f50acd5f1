"""Changes of each thing between two points, and the period with the largest change."""

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion, UnparsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = [("Ada", 1, 10, "2021-05-01"), ("Ada", 2, 25, "2022-05-01"), ("Ada", 3, 30, "2023-05-01")]
ROWS += [("Bo", 1, 20, "2021-06-01"), ("Bo", 2, 20, "2022-06-01"), ("Bo", 3, 10, "2023-06-01")]
SCHEMA: TableSchema = {"runner": "text", "lap": "integer", "points": "integer", "run_on": "datetime"}
RUNNERS = ("Ada", "Bo")
TABLES = (
    TableProfile(
        "laps",
        6,
        (
            Column("runner", "text", "category", 2, top=RUNNERS, values=RUNNERS),
            Column("lap", "integer", "numeric", 3, low=1, high=3),
            Column("points", "integer", "numeric", 5, low=10, high=30),
            Column("run_on", "datetime", "datetime", 6, low="2021-05-01", high="2023-06-01"),
        ),
    ),
)


def _answer(question: str) -> list[tuple[object, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute("CREATE TABLE laps (runner TEXT, lap INTEGER, points INTEGER, run_on TIMESTAMP)")
        database.executemany("INSERT INTO laps VALUES (?, ?, ?, ?)", ROWS)
        return database.execute(compile_plan(parsed.plan, {"laps": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("how much did each runner's points rise between lap 1 and lap 3", [("Ada", 20), ("Bo", -10)]),
        ("change in points from the first to the last lap per runner", [("Ada", 20), ("Bo", -10)]),
        ("difference between lap 3 and lap 2 points for every runner", [("Ada", 5), ("Bo", -10)]),
        ("which runner's points improved most from lap 1 to lap 3", [("Ada", 20)]),
        ("which runners have lower points in lap 3 than in lap 1", [("Bo", -10)]),
        ("which year had the largest increase in points over the year before", [(2022, 22.5)]),
        ("in which year did the points fall the most compared with the previous year", [(2023, 20)]),
        ("which year saw the biggest drop in points", [(2023, 20)]),
    ],
)
def test_changes_are_those_of_the_rows(question: str, rows: list[tuple[object, ...]]) -> None:
    assert [row[:2] for row in _answer(question)] == rows


@pytest.mark.parametrize(
    "question",
    [
        "whose points fell most from lap 1 to lap 3",
        "change in points from lap 1 to lap 7 per runner",
        "how many runners improved from lap 1 to run 3",
    ],
)
def test_a_change_of_what_is_not_told_is_asked_about(question: str) -> None:
    assert isinstance(parse_question(question, TABLES), UnparsedQuestion)
