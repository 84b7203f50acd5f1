"""Times between dates by their terms, occasions, and classes of a number without a width."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.unit.agents.questions.query_answers import answer, open_tables

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.parsed_question import ParsedQuestion
from app.agents.questions.parser import parse_question


def text(name: str, *values: str) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values)


def date(name: str, low: str, high: str, missing: float = 0.0) -> Column:
    return Column(name, "datetime", "datetime", 4, missing=missing, low=low, high=high)


TOURS = TableProfile(
    "tours",
    4,
    (
        Column("tour_no", "integer", "id", 4, unique=True, low=1, high=4),
        text("agency", "Alder", "Birch"),
        date("booked_on", "2024-01-01", "2024-02-01"),
        date("departs_on", "2024-01-11", "2024-03-02"),
        date("returns_on", "2024-01-13", "2024-03-09"),
        text("bus", "B1", "B2"),
        Column("breakdown", "integer", "boolean", 2, low=0, high=1, top=(0, 1), values=(0, 1)),
        Column("age", "integer", "numeric", 40, low=18, high=80),
    ),
)
TOUR_ROWS = """
    (1, 'Alder', DATE '2024-01-01', DATE '2024-01-11', DATE '2024-01-13', 'B1', 1, 18),
    (2, 'Alder', DATE '2024-01-05', DATE '2024-01-25', DATE '2024-01-28', 'B1', 1, 25),
    (3, 'Birch', DATE '2024-01-20', DATE '2024-01-24', DATE '2024-01-25', 'B1', 1, 29),
    (4, 'Birch', DATE '2024-02-01', DATE '2024-03-02', DATE '2024-03-09', 'B2', 0, 80)
"""
CONSULTATIONS = TableProfile(
    "consultations",
    2,
    (
        text("ward", "Eyes", "Skin"),
        date("registered_at", "2024-01-01T08:00:00", "2024-01-02T09:00:00"),
        date("called_at", "2024-01-01T08:10:00", "2024-01-02T09:30:00"),
        date("released_at", "2024-01-01T08:50:00", "2024-01-02T10:30:00"),
    ),
)
CONSULTATION_ROWS = """
    ('Eyes', TIMESTAMP '2024-01-01 08:00', TIMESTAMP '2024-01-01 08:10', TIMESTAMP '2024-01-01 08:50'),
    ('Skin', TIMESTAMP '2024-01-02 09:00', TIMESTAMP '2024-01-02 09:30', TIMESTAMP '2024-01-02 10:30')
"""


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables({TOURS: TOUR_ROWS, CONSULTATIONS: CONSULTATION_ROWS}) as connection:
        yield connection


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("average lead time by agency", [("Alder", 15.0), ("Birch", 17.0)]),
        ("how far in advance do guests book", [(16.0,)]),
        ("how many days are between booked on and departs on", [(16.0,)]),
        ("how often did a breakdown happen at Alder", [(2,)]),
        ("number of tours by age group", [(10.0, 1), (20.0, 2), (80.0, 1)]),
        (
            "number of tours by age group and agency",
            [(10.0, "Alder", 1), (20.0, "Alder", 1), (20.0, "Birch", 1)],
        ),
    ],
)
def test_terms_of_tours(
    database: duckdb.DuckDBPyConnection, question: str, rows: list[tuple[Any, ...]]
) -> None:
    assert answer(database, question, TOURS)[: len(rows)] == rows


def test_a_wait_ends_when_the_turn_comes(database: duckdb.DuckDBPyConnection) -> None:
    assert answer(database, "average waiting time in minutes", CONSULTATIONS) == [(20.0,)]


def test_a_width_that_the_question_names_counts(database: duckdb.DuckDBPyConnection) -> None:
    rows = answer(database, "how many tours per age group in steps of 20 years", TOURS)
    assert rows == [(0.0, 1), (20.0, 2), (80.0, 1)]


def test_the_width_of_classes_is_told() -> None:
    parsed = parse_question("number of tours by age group", [TOURS])
    assert isinstance(parsed, ParsedQuestion)
    assert any("10 wide" in note for note in parsed.interpretations)
