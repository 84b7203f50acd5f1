"""Words that resemble a column or a verb, and are a part of the calendar or a place."""

import pytest

from app.agents.goals.tables.profiles import Column, TableProfile

from .query_answers import answer, open_tables

PARCELS = TableProfile(
    "parcels",
    4,
    (
        Column("sent_on", "datetime", "datetime", 4, low="2024-01-01T00:00:00", high="2024-01-09T00:00:00"),
        Column("transit_days", "integer", "numeric", 3, low=1, high=3),
        Column("dest_country", "text", "category", 2, values=("DE", "PL")),
        Column("weight_kg", "number", "numeric", 4, low=1, high=4),
    ),
)
ROWS = {
    PARCELS: "(TIMESTAMP '2024-01-01', 1, 'PL', 1.0), (TIMESTAMP '2024-01-08', 2, 'PL', 2.0),"
    " (TIMESTAMP '2024-01-02', 3, 'DE', 3.0), (TIMESTAMP '2024-01-09', 3, 'DE', 6.0)"
}


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("average weight by day of the week", [("Monday", 1.5), ("Tuesday", 4.5)]),
        ("average weight by transit days", [(1, 1.0), (2, 2.0), (3, 4.5)]),
        ("how many parcels went to Poland", [(2,)]),
        ("total weight of parcels to Poland", [(3.0,)]),
    ],
)
def test_a_word_means_what_its_neighbours_say(question: str, rows: list[tuple[object, ...]]) -> None:
    with open_tables(ROWS) as database:
        assert [row[: len(rows[0])] for row in answer(database, question, PARCELS)] == rows
