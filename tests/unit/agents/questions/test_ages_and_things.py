"""Ages and tenures that dates imply, and shares of things of which a table has several rows."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.unit.agents.questions.query_answers import answer, open_tables

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question


def text(name: str, *values: str, distinct: int = 0) -> Column:
    return Column(name, "text", "category", distinct or len(values), top=values, values=values)


def date(name: str, low: str, high: str, missing: float = 0.0) -> Column:
    return Column(name, "datetime", "datetime", 4, missing=missing, low=low, high=high)


CREW = TableProfile(
    "crew",
    4,
    (
        Column("crew_no", "integer", "id", 4, unique=True, low=1, high=4),
        text("ship", "Aurora", "Borealis"),
        Column("birth_year", "integer", "numeric", 4, low=1960, high=2000),
        date("joined_on", "2010-01-01", "2024-01-01"),
        date("left_on", "2020-01-01", "2020-01-01", missing=0.75),
        Column("pay", "integer", "numeric", 4, low=2000, high=5000),
    ),
)
CREW_ROWS = """
    (1, 'Aurora', 1960, TIMESTAMP '2010-01-01', TIMESTAMP '2020-01-01', 5000),
    (2, 'Aurora', 1980, TIMESTAMP '2014-01-01', NULL, 3000),
    (3, 'Borealis', 1990, TIMESTAMP '2022-01-01', NULL, 2500),
    (4, 'Borealis', 2000, TIMESTAMP '2024-01-01', NULL, 2000)
"""
PARCELS = TableProfile(
    "parcel_lines",
    6,
    (
        text("parcel_id", "P1", "P2", "P3", distinct=3),
        Column("patient_id", "integer", "id", 3, low=1, high=3),
        date("date_of_birth", "1950-06-30", "2015-03-01"),
        date("sent_on", "2024-01-05", "2024-06-29"),
        text("sex", "f", "m"),
        text("damaged", "no", "yes"),
        text("carrier", "Kestrel", "Osprey"),
    ),
)
PARCEL_ROWS = """
    ('P1', 1, DATE '1950-06-30', DATE '2024-01-05', 'f', 'no', 'Kestrel'),
    ('P1', 1, DATE '1950-06-30', DATE '2024-01-05', 'f', 'yes', 'Kestrel'),
    ('P1', 1, DATE '1950-06-30', DATE '2024-01-05', 'f', 'no', 'Kestrel'),
    ('P2', 2, DATE '1990-01-01', DATE '2024-02-05', 'm', 'no', 'Osprey'),
    ('P2', 2, DATE '1990-01-01', DATE '2024-02-05', 'm', 'no', 'Osprey'),
    ('P3', 3, DATE '2015-03-01', DATE '2024-06-29', 'm', 'no', 'Osprey')
"""


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables({CREW: CREW_ROWS, PARCELS: PARCEL_ROWS}) as connection:
        yield connection


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("average age by ship", [("Aurora", 54.0), ("Borealis", 29.0)]),
        ("how many people are older than 40", [(2,)]),
        ("how many members of the crew are under 30", [(1,)]),
    ],
)
def test_ages_are_those_in_the_latest_year(
    database: duckdb.DuckDBPyConnection, question: str, rows: list[tuple[Any, ...]]
) -> None:
    assert answer(database, question, CREW) == rows


def test_tenure_ends_on_the_day_of_leaving_or_on_the_latest_day(database: duckdb.DuckDBPyConnection) -> None:
    rows = answer(database, "average tenure by ship", CREW)
    assert [(ship, round(years, 2)) for ship, years in rows] == [("Aurora", 10.0), ("Borealis", 1.0)]


def test_stored_ages_are_taken_before_implied_ones() -> None:
    stored = Column("age", "integer", "numeric", 4, low=20, high=70)
    parsed = parse_question("average age", [TableProfile("crew", 4, (*CREW.columns, stored))])
    assert isinstance(parsed, ParsedQuestion)
    assert parsed.columns == ("age",)


def test_the_oldest_is_found_by_the_birth() -> None:
    parsed = parse_question("who is the oldest member of the crew", [CREW])
    assert isinstance(parsed, ParsedQuestion)
    assert "lowest `birth_year`" in parsed.description


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("share of the parcels that are damaged", 1 / 3),
        ("what percentage of patients is over 73", 0.0),
        ("percentage of patients over 33", 2 / 3),
        ("proportion of male patients", 2 / 3),
    ],
)
def test_things_of_several_rows_count_once_in_shares(
    database: duckdb.DuckDBPyConnection, question: str, share: float
) -> None:
    assert answer(database, question, PARCELS)[0][0] == pytest.approx(share)


def test_shares_of_things_have_groups(database: duckdb.DuckDBPyConnection) -> None:
    rows = answer(database, "share of damaged parcels by carrier", PARCELS)
    assert [row[:2] for row in rows] == [("Kestrel", 1.0), ("Osprey", 0.0)]


def test_implied_ages_are_described_with_their_day() -> None:
    parsed = parse_question("average age of patients in parcel_lines", [PARCELS])
    assert isinstance(parsed, ParsedQuestion)
    assert "years between `date_of_birth` and 2024-06-29" in parsed.description
