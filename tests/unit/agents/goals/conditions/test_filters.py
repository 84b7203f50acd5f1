"""Conditions on rows that a goal sets, and the SELECT that they become."""

import duckdb
import pytest

from app.agents.goals.conditions.filters import find_conditions
from app.agents.goals.conditions.row_conditions import RowCondition, describe_conditions, select_rows
from app.agents.goals.tables.profiles import Column, TableProfile

DELIVERIES = TableProfile(
    "deliveries",
    9_000,
    (
        Column("id", "text", "id", 9_000, unique=True),
        Column("region", "text", "category", 4, top=("north", "south", "coast", "new york")),
        Column("service", "text", "category", 3, top=("express", "standard", "bulky")),
        Column("box", "text", "category", 3, top=("S", "M", "L")),
        Column("line", "integer", "numeric", 14, low=1, high=20),
        Column("tour_group", "integer", "numeric", 9, low=1, high=9),
        Column("weight_g", "integer", "numeric", 4_000, low=50, high=30_000),
        Column("sent_on", "datetime", "datetime", 700, low="2018-01-01", high="2025-06-30"),
        Column("late", "text", "category", 2, top=("yes", "no")),
        Column("minutes", "number", "numeric", 3_000, low=3, high=900),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict minutes, only for the coast", "`region` is coast"),
        ("How late will parcels to New York be?", "`region` is new york"),
        ("express deliveries per week for the next quarter", "`service` is express"),
        ("minutes on line 7 please", "`line` is 7"),
        ("How many minutes does tour 3 take", "`tour_group` is 3"),
        ("Root causes of long minutes in size class L", "`box` is L"),
        ("What makes a class l delivery late?", ""),
        ("Predict minutes for everything except bulky", "`service` is not bulky"),
        ("Predict minutes excluding express and bulky", "`service` is not express or bulky"),
        ("Predict minutes w/o the coast", "`region` is not coast"),
        ("Predict minutes for everything but the north and the south", "`region` is not north or south"),
        ("Predict minutes for deliveries with a weight over 2 kilos", "`weight_g` is above 2000.0"),
        ("Predict minutes, rows since 2020 only", "`sent_on` is at least 2020-01-01"),
        (
            "Predict minutes of deliveries later than 30 September 2021",
            "`sent_on` is above 2021-09-30T23:59:59",
        ),
        (
            "Predict minutes for express in the north",
            "`region` is north and `service` is express",
        ),
    ],
)
def test_a_goal_restricts_the_rows(goal: str, expected: str) -> None:
    assert describe_conditions(find_conditions(goal, [DELIVERIES], "minutes")) == expected


DONATIONS = TableProfile(
    "donations",
    800,
    (
        Column("blood_group", "text", "category", 4, top=("O-", "O+", "A+", "A-")),
        Column("volume_ml", "integer", "numeric", 90, low=200, high=500),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict the price of a room", ""),
        ("Predict the price of room A", "`room` is A"),
    ],
)
def test_an_article_is_no_value(goal: str, expected: str) -> None:
    rooms = TableProfile("stays", 800, (Column("room", "text", "category", 3, top=("A", "B", "C")),))
    assert describe_conditions(find_conditions(goal, [rooms], "price")) == expected


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict the volume, only for O-", "`blood_group` is O-"),
        ("Predict the volume for blood group O+.", "`blood_group` is O+"),
        ("Predict the volume for blood group O", "`blood_group` is O- or O+"),
    ],
)
def test_signs_tell_values_apart(goal: str, expected: str) -> None:
    assert describe_conditions(find_conditions(goal, [DONATIONS], "volume_ml")) == expected


@pytest.mark.parametrize(
    "goal",
    [
        "Predict whether a delivery is late",
        "Compare the minutes of express and standard",
        "Is express faster than standard?",
        "Predict minutes before the parcel is sent",
        "Which service will a customer choose?",
    ],
)
def test_a_goal_without_a_condition_keeps_all_rows(goal: str) -> None:
    assert find_conditions(goal, [DELIVERIES], "late") == []


def test_the_target_is_not_restricted() -> None:
    assert find_conditions("Which deliveries are in the north?", [DELIVERIES], "region") == []


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (RowCondition(column="a b", values=["it's"]), [1]),
        (RowCondition(column="a b", operator="not_in", values=["it's"]), [2, 3]),
        (RowCondition(column="n", values=[7]), [2]),
        (RowCondition(column="n", operator="at_least", values=[7]), [2, 3]),
        (RowCondition(column="id + 1250500", operator="at_least", values=[1_250_503.0]), [3]),
        (RowCondition(column="day", operator="above", values=["2020-02-01"]), [3]),
        (RowCondition(column="flag", values=[True]), [1, 3]),
    ],
)
def test_a_condition_selects_its_rows(condition: RowCondition, kept: list[int]) -> None:
    rows = (
        "SELECT * FROM (VALUES (1, 'it''s', 6, DATE '2020-01-01', true),"
        " (2, NULL, 7, DATE '2020-02-01', false),"
        " (3, 'x', 8, DATE '2020-03-01', true)) AS rows(id, \"a b\", n, day, flag)"
    )
    rows = f'SELECT *, id + 1250500 AS "id + 1250500" FROM ({rows}) AS source'
    selected = duckdb.sql(f"SELECT id FROM ({select_rows(rows, [condition])}) ORDER BY id").fetchall()
    assert [row[0] for row in selected] == kept


PORTERAGE = TableProfile(
    "porterage",
    900,
    (
        Column("rate", "text", "category", 2, top=("day", "night")),
        Column("crates", "integer", "numeric", 90, low=1, high=200),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("crates over the next 7 days", ""),
        ("crates each night", ""),
        ("Predict crates, only for the night rate", "`rate` is night"),
    ],
)
def test_a_span_of_time_is_no_value(goal: str, expected: str) -> None:
    assert describe_conditions(find_conditions(goal, [PORTERAGE], "crates")) == expected


TRAILERS = TableProfile(
    "trailers",
    2_000,
    (
        Column("keeper_id", "integer", "numeric", 700, low=1, high=900),
        Column("built_year", "integer", "numeric", 17, low=2008, high=2024),
        Column("listed_on", "datetime", "datetime", 500, low="2024-01-01", high="2025-05-20"),
        Column("previous_keepers", "integer", "numeric", 6, low=0, high=5),
        Column("length_cm", "integer", "numeric", 90, low=120, high=700),
        Column("price", "integer", "numeric", 900, low=400, high=9_000),
    ),
)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict the price since 2015", "`built_year` is at least 2015"),
        ("Predict the price of those listed since 2025", "`listed_on` is at least 2025-01-01"),
        ("Predict the price since March 2024", "`listed_on` is at least 2024-03-01"),
        ("Predict the price with at most 2 previous keepers", "`previous_keepers` is at most 2.0"),
        ("Predict the price with less than 3 keepers", "`previous_keepers` is below 3.0"),
        ("Predict the price for keepers over 80", ""),
        ("Predict the price over 5 days", ""),
    ],
)
def test_a_bound_belongs_to_the_column_that_it_parts(goal: str, expected: str) -> None:
    assert describe_conditions(find_conditions(goal, [TRAILERS], "price")) == expected
