"""Questions about things without such rows and about things with rows of two values, over two tables."""

from collections.abc import Iterator

import duckdb
import pytest

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question
from app.plans.compiler import compile_plan
from app.plans.describe import describe_plan
from app.plans.schema import TableSchema

MEMBERS = """
    ('M1', 'Ann', 'gold', '2023-01-05'), ('M2', 'Bo', 'gold', '2024-02-05'), ('M3', 'Cy', 'basic', '2024-03-05')
"""
CHECKINS = """
    (1, 'M1', '2024-02-03', 'City', 'cash', 'no', 20), (2, 'M1', '2024-03-03', 'Port', 'card', 'no', 30),
    (3, 'M2', '2024-02-09', 'City', 'cash', 'yes', 40), (4, 'M2', '2024-04-09', 'Mill', 'card', 'no', 50),
    (5, 'M1', '2024-04-11', 'Mill', 'card', 'yes', 60)
"""
SCHEMAS: dict[str, TableSchema] = {
    "members": {"member_id": "text", "name": "text", "plan": "text", "joined": "datetime"},
    "checkins": {
        "checkin_no": "integer",
        "member_id": "text",
        "visited_at": "datetime",
        "club": "text",
        "payment": "text",
        "late": "text",
        "fee_eur": "integer",
    },
}


def text(name: str, *values: str, unique: bool = False) -> Column:
    hint = "id" if unique else "category"
    return Column(name, "text", hint, len(values), unique=unique, top=values, values=values)


def time(name: str, low: str, high: str) -> Column:
    return Column(name, "datetime", "datetime", 5, unique=True, low=low, high=high)


TABLES = (
    TableProfile(
        "members",
        3,
        (
            text("member_id", "M1", "M2", "M3", unique=True),
            text("name", "Ann", "Bo", "Cy", unique=True),
            text("plan", "gold", "basic"),
            time("joined", "2023-01-05", "2024-03-05"),
        ),
    ),
    TableProfile(
        "checkins",
        5,
        (
            Column("checkin_no", "integer", "id", 5, unique=True, low=1, high=5),
            text("member_id", "M1", "M2"),
            time("visited_at", "2024-02-03", "2024-04-11"),
            text("club", "City", "Port", "Mill"),
            text("payment", "cash", "card"),
            text("late", "no", "yes"),
            Column("fee_eur", "integer", "numeric", 5, low=20, high=60),
        ),
    ),
)


@pytest.fixture(scope="module")
def gym() -> Iterator[duckdb.DuckDBPyConnection]:
    types = {"integer": "INTEGER", "text": "VARCHAR", "datetime": "TIMESTAMP"}
    with duckdb.connect() as connection:
        for table, rows in (("members", MEMBERS), ("checkins", CHECKINS)):
            columns = ", ".join(f"{name} {types[kind]}" for name, kind in SCHEMAS[table].items())
            connection.execute(f"CREATE TABLE {table} ({columns})")
            connection.execute(f"INSERT INTO {table} VALUES {rows}")
        yield connection


def answer(
    question: str, gym: duckdb.DuckDBPyConnection, tables: tuple[TableProfile, ...] = TABLES
) -> list[str | int]:
    """Return the first cells of the answer of a question."""
    parsed = parse_question(question, tables)
    assert isinstance(parsed, ParsedQuestion), parsed
    return [row[0] for row in gym.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall()]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("members without a visit in March", ["Bo", "Cy"]),
        ("how many members did not come in March?", [2]),
        ("which members had no check-ins in April?", ["Cy"]),
        ("gold members without any check-ins", []),
    ],
)
def test_rows_that_lack_others_lack_those_of_the_condition(
    question: str, expected: list[str | int], gym: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, gym) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which club has no checkin with cash?", ["Mill", "Port"]),
        ("which clubs had no checkins in March?", ["City", "Mill"]),
        ("clubs without a late checkin in April", ["City", "Port"]),
        ("which clubs had no late visits?", ["Port"]),
        ("which clubs did not take anything in February?", ["Mill", "Port"]),
    ],
)
def test_things_without_such_rows_have_none_at_all(
    question: str, expected: list[str], gym: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, gym, TABLES[1:]) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which clubs took both cash and card?", []),
        ("members who visited both City and Port", ["Ann"]),
    ],
)
def test_both_values_occur_with_the_same_thing(
    question: str, expected: list[str | int], gym: duckdb.DuckDBPyConnection
) -> None:
    assert answer(question, gym) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many checkins were late and how many were above 35 euros?", (2, 3)),
        ("how many checkins in February paid cash, and how many were at Mill?", (2, 0)),
        ("how many checkins were late in February and how many in April?", (1, 1)),
    ],
)
def test_two_counts_have_conditions_of_their_own(
    question: str, expected: tuple[int, int], gym: duckdb.DuckDBPyConnection
) -> None:
    parsed = parse_question(question, TABLES[1:])
    assert isinstance(parsed, ParsedQuestion), parsed
    assert gym.execute(compile_plan(parsed.plan, SCHEMAS).sql).fetchall() == [expected]


def test_a_plan_of_absent_rows_begins_with_its_figure() -> None:
    parsed = parse_question("how many members did not come in March?", TABLES)
    assert isinstance(parsed, ParsedQuestion)
    assert describe_plan(parsed.plan).startswith("the number of rows, without any row of `checkins` where")
