"""Values that several columns have."""

import pytest

from app.agents.goals.conditions.filters import find_conditions, find_open_conditions
from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.goals.tables.profiles import Column, TableProfile

TEAMS, CITIES = ("Rovers", "United", "Albion"), ("Rome", "Oslo", "Bern")


def _names(name: str, values: tuple[str, ...]) -> Column:
    return Column(name, "text", "category", len(values), top=values, values=values, is_stored_as_text=True)


MATCHES = TableProfile(
    "matches",
    600,
    (
        _names("home_team", TEAMS),
        _names("away_team", TEAMS),
        _names("origin_city", CITIES),
        _names("dest_city", CITIES),
        Column("attendance", "integer", "numeric", 500, low=9_000, high=61_000),
    ),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("predict attendance for Rovers home games", "`home_team` is Rovers"),
        ("predict attendance for away games of Albion", "`away_team` is Albion"),
        ("predict attendance for fans from Oslo", "`origin_city` is Oslo"),
        ("predict attendance for trips from Oslo to Bern", "`origin_city` is Oslo and `dest_city` is Bern"),
        # Who is left out plays neither at home nor away.
        ("predict attendance without Rovers", "`home_team` is not Rovers and `away_team` is not Rovers"),
    ],
)
def test_a_value_is_one_of_the_column_that_is_named_beside_it(text: str, expected: str) -> None:
    conditions = find_conditions(text, [MATCHES], "attendance")
    assert describe_conditions(conditions) == expected
    assert find_open_conditions(text, [MATCHES], "attendance") == []


def test_a_value_of_two_columns_selects_no_rows_until_one_is_chosen() -> None:
    text = "predict attendance for Rovers games"
    assert find_conditions(text, [MATCHES], "attendance") == []
    (alike,) = find_open_conditions(text, [MATCHES], "attendance")
    assert [condition.column for condition in alike] == ["home_team", "away_team"]
