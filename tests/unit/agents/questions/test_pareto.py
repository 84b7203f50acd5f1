"""Cumulative shares of groups, and the groups that make up a part of the whole."""

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = [("jam", 50.0), ("jam", 10.0), ("power", 25.0), ("sensor", 10.0), ("operator", 5.0)]
SCHEMA: TableSchema = {"cause": "text", "loss": "number"}
CAUSES = ("jam", "power", "sensor", "operator")
TABLES = (
    TableProfile(
        "faults",
        5,
        (
            Column("cause", "text", "category", 4, top=CAUSES, values=CAUSES),
            Column("loss", "number", "numeric", 4, low=5, high=50),
        ),
    ),
)


def _answer(question: str) -> list[tuple[object, ...]]:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute("CREATE TABLE faults (cause TEXT, loss DOUBLE)")
        database.executemany("INSERT INTO faults VALUES (?, ?)", ROWS)
        return database.execute(compile_plan(parsed.plan, {"faults": SCHEMA}).sql).fetchall()


@pytest.mark.parametrize(
    "question",
    [
        "Pareto of causes by loss",
        "pareto chart of the causes: loss and cumulative share",
        "loss by cause with cumulative share, largest first",
    ],
)
def test_cumulative_shares_begin_with_the_largest_group(question: str) -> None:
    assert [row[0] for row in _answer(question)] == list(CAUSES)
    assert [row[3] for row in _answer(question)] == pytest.approx([0.6, 0.85, 0.95, 1.0])


def test_rows_are_counted_where_no_measure_is_named() -> None:
    assert [row[1] for row in _answer("pareto analysis of causes")] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    ("question", "causes"),
    [
        ("which causes make up 80 percent of the loss", ["jam", "power"]),
        ("what causes account for half of the loss", ["jam"]),
        ("which causes account for 40 % of the faults", ["jam"]),
    ],
)
def test_the_largest_groups_are_taken_until_they_reach_a_part(question: str, causes: list[str]) -> None:
    assert [row[0] for row in _answer(question)] == causes
