"""Rankings without a number: a plural behind a superlative asks for all of them, a singular for the first."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pytest
from tests.corpora.program_text import parse_program
from tests.unit.agents.questions.query_answers import answer, open_tables
from tests.unit.agents.questions.test_flags_and_entities import make_number, make_text
from tests.unit.agents.questions.test_grammar import TRIPS, TYPES

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.questions.learned.open_rankings import open_ranking
from app.agents.questions.marking.mark_items import mark_items

REPAIRS = TableProfile(
    "repairs",
    6,
    (
        Column("repair_no", "integer", "id", 6, unique=True, low=1, high=6),
        make_text("fault", "leak", "short circuit", "crack"),
        make_text("workshop", "Oulu", "Turku"),
        make_text("handled_by", "Ida", "Pia"),
        make_text("shoes", "Peak", "Trail"),
        make_number("cost", 10, 60),
    ),
)
ROWS = """
    (1, 'leak', 'Oulu', 'Ida', 'Peak', 10.0), (2, 'leak', 'Turku', 'Pia', 'Peak', 20.0),
    (3, 'leak', 'Oulu', 'Ida', 'Peak', 30.0), (4, 'crack', 'Oulu', 'Ida', 'Trail', 40.0),
    (5, 'crack', 'Oulu', 'Ida', 'Peak', 50.0), (6, 'short circuit', 'Turku', 'Pia', 'Peak', 60.0)
"""


@pytest.fixture(scope="module")
def repairs() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_tables({REPAIRS: ROWS}) as connection:
        yield connection


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("most common faults", [("leak", 3), ("crack", 2), ("short circuit", 1)]),
        ("most common fault", [("leak", 3)]),
        ("what are the most common faults in Oulu", [("leak", 2), ("crack", 2)]),
        ("which workshops have the highest average cost", [("Turku", 40.0), ("Oulu", 32.5)]),
        ("which workshop has the highest average cost", [("Turku", 40.0)]),
        ("most expensive repairs in Turku", [(6, 60.0), (2, 20.0)]),
        ("most expensive repair in Turku", [(6, 60.0)]),
        ("which workshop had the most repairs", [("Oulu", 4)]),
        ("who handles the most repairs?", [("Ida", 4)]),
        # The plural is the column's own name.
        ("most used shoes", [("Peak", 5)]),
    ],
)
def test_a_plural_is_ranked_and_a_singular_is_the_first(
    repairs: duckdb.DuckDBPyConnection, question: str, expected: list[tuple[Any, ...]]
) -> None:
    rows = answer(repairs, question, REPAIRS)
    assert [row[: len(expected[0])] for row in rows] == expected or sorted(rows) == sorted(expected)


@pytest.mark.parametrize(
    ("question", "program", "count"),
    [
        ("top cities", "count(), by(city), top(1, count())", 100),
        ("top city", "count(), by(city), top(1, count())", 1),
        ("dearest trips", "rows(), top(1, fare)", 100),
        ("the top 1 cities", "count(), by(city), top(1, count())", 1),
        ("city with the most trips", "count(), by(city), top(1, count())", 1),
        ("top cities", "count(), by(city), top(3, count())", 3),
    ],
)
def test_the_first_of_a_program_is_opened_by_a_plural(question: str, program: str, count: int) -> None:
    opened = open_ranking(parse_program(program, TYPES), mark_items(question, [TRIPS]).items)
    own = parse_program(program, TYPES)
    assert own.order is not None
    assert opened == replace(own, order=replace(own.order, count=count))
