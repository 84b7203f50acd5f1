"""Groups of numbers: ranges that signs tell, ranges that touch, and groups of equally many rows."""

import duckdb
import pytest

from app.agents.goals.phrases import patterns
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.agents.questions.rewording.number_ranges import reword_ranges
from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema

ROWS = [(f"D{n}", 10 * n, 100 - n) for n in range(1, 9)]
SCHEMA: TableSchema = {"driver": "text", "age": "integer", "km": "integer"}
TABLES = (
    TableProfile(
        "drivers",
        8,
        (
            Column("driver", "text", "id", 8, unique=True, values=tuple(row[0] for row in ROWS)),
            Column("age", "integer", "numeric", 8, low=10, high=80),
            Column("km", "integer", "numeric", 8, low=92, high=99),
        ),
    ),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("number of drivers aged under 25, 25-39, 40-59 and 60+", [2, 1, 2, 3]),
        ("how many drivers are up to 20, 20 to 50, and more than 50?", [2, 3, 3]),
        ("group ages 0-40 and 41+ and tell me the mean km in each", [97.5, 93.5]),
        ("split the age into quartiles and give the mean km of each", [98.5, 96.5, 94.5, 92.5]),
        ("mean km per age quartile", [98.5, 96.5, 94.5, 92.5]),
        ("divide the drivers into two equal groups by age and show the average km", [97.5, 93.5]),
    ],
)
def test_groups_come_in_the_order_of_their_numbers(question: str, answer: list[float]) -> None:
    parsed = parse_question(question, TABLES)
    assert isinstance(parsed, ParsedQuestion), parsed
    with duckdb.connect() as database:
        database.execute("CREATE TABLE drivers (driver TEXT, age INTEGER, km INTEGER)")
        database.executemany("INSERT INTO drivers VALUES (?, ?, ?)", ROWS)
        rows = database.execute(compile_plan(parsed.plan, {"drivers": SCHEMA}).sql).fetchall()
    assert [row[1] for row in rows] == answer


def test_groups_of_equally_many_rows_show_their_bounds() -> None:
    parsed = parse_question("mean km by age quartile", TABLES)
    assert isinstance(parsed, ParsedQuestion)
    assert {"lowest age", "highest age"} <= compile_plan(parsed.plan, {"drivers": SCHEMA}).columns.keys()


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("members aged 25-39", "members aged 25 to 39"),
        ("60+, please", "60 and over, please"),
        ("the season 2023-24", "the season 2023-24"),
        ("on 2024-03-05", "on 2024-03-05"),
        ("in 05-2023", "in 05-2023"),
        ('the band "25-39"', 'the band "25-39"'),
        ("3 + 4 seats", "3 + 4 seats"),
    ],
)
def test_ranges_of_signs_are_written_in_words(question: str, words: str) -> None:
    assert reword_ranges(question) == words


def test_the_width_of_groups_is_no_horizon() -> None:
    assert patterns.AHEAD.regex.search("revenue in 10 years")
    assert not patterns.AHEAD.regex.search("histogram of age in 10 year groups")
