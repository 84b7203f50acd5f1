"""Targets that no column holds: computed from two columns of a row."""

from typing import Any

import duckdb
import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.goals.tables.column_formula import Derivation, select_with_column, select_with_derivation
from app.agents.planner.output import Plan


def _column(name: str, type_: str, **facts: Any) -> dict[str, Any]:
    hints = {"datetime": "datetime", "text": "category"}
    base = {"name": name, "type": type_, "hint": hints.get(type_, "numeric"), "distinct": 400, "missing": 0.0}
    return {**base, "unique": False, "top": None, "min": None, "max": None, "q50": None, **facts}


def _dates(name: str, low: str, high: str, missing: float = 0.0) -> dict[str, Any]:
    return _column(name, "datetime", min=low, max=high, missing=missing)


REPAIRS = {
    "table": "repairs",
    "rows": 9_000,
    "columns": [
        _column("workshop", "text", distinct=9, top=[{"value": "north"}, {"value": "south"}]),
        _dates("reported_on", "2023-01-02", "2024-12-20"),
        _dates("promised_on", "2023-01-06", "2025-01-10"),
        _dates("fixed_on", "2023-01-05", "2025-02-01", missing=0.2),
        _column("mechanics", "integer", min=1, max=6, q50=2),
    ],
}
RECEIPTS = {
    "table": "receipts",
    "rows": 40_000,
    "columns": [
        _column("product", "text", distinct=30, top=[{"value": "tea"}, {"value": "coffee"}]),
        _dates("bought_at", "2022-01-01", "2024-12-31"),
        _column("qty", "integer", min=1, max=40, q50=3, distinct=40),
        _column("unit_price", "number", min=0.5, max=90.0, q50=4.5),
        _column("persons", "integer", min=1, max=8, q50=2, distinct=8),
    ],
}


def _plan(goal: str, table: dict[str, Any]) -> Plan:
    planned = run_planner(goal, [table])
    assert isinstance(planned, Plan), planned
    return planned


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (
            "How many days does it take until a car is fixed?",
            Derivation(kind="elapsed", first="fixed_on", second="reported_on"),
        ),
        (
            "Which repairs will be finished after the promised date?",
            Derivation(kind="later", first="fixed_on", second="promised_on"),
        ),
        (
            "Predict the delay in days",
            Derivation(kind="delay", first="fixed_on", second="promised_on"),
        ),
        ("Will it be fixed at all?", Derivation(kind="present", first="fixed_on")),
    ],
)
def test_a_goal_about_dates_computes_its_target(goal: str, expected: Derivation) -> None:
    assert _plan(goal, REPAIRS).derivation == expected


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict qty times unit price", Derivation(kind="product", first="qty", second="unit_price")),
        ("predict unit_price * qty", Derivation(kind="product", first="unit_price", second="qty")),
        ("What is the unit price per person?", None),
        ("Predict unit_price - only from product and persons", None),
        ("unit_price ~ qty + persons", None),
    ],
)
def test_only_an_operation_that_is_spelled_out_is_computed(goal: str, expected: Derivation | None) -> None:
    plan = run_planner(goal, [RECEIPTS])
    assert (plan.derivation if isinstance(plan, Plan) else None) == expected


STAYS = {
    "table": "stays",
    "rows": 9_000,
    "columns": [
        _column("booking_ref", "text", hint="id", unique=True),
        _column("room_rev", "number", min=80, max=2_400, q50=300.0),
        _column("cleaning_cost", "number", min=5, max=90, q50=20.0),
        _column("paid_eur", "number", min=0, max=2_400, q50=200.0),
        _column("nights", "integer", min=1, max=14, q50=3, distinct=14),
        _column("n_msgs", "integer", min=0, max=30, q50=4, distinct=30),
        _column("water_use", "number", min=10, max=900, q50=200.0),
        _column("taxi_km", "number", min=0, max=80, q50=9.0),
        _column("hour", "integer", min=0, max=23, q50=14, distinct=24),
        _column("store", "integer", min=1, max=12, q50=5, distinct=12),
    ],
}


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict the room revenue per night", Derivation(kind="ratio", first="room_rev", second="nights")),
        ("Predict water use per message", Derivation(kind="ratio", first="water_use", second="n_msgs")),
        ("Predict the water use per kilometre", Derivation(kind="ratio", first="water_use", second="taxi_km")),
        ("Predict room revenue per hour", None),
        ("Predict room revenue per store", None),
        (
            "Estimate the revenue minus what was paid",
            Derivation(kind="difference", first="room_rev", second="paid_eur"),
        ),
        (
            "Predict the difference between room revenue and cleaning cost",
            Derivation(kind="difference", first="room_rev", second="cleaning_cost"),
        ),
        (
            "Predict the profit of a stay",
            Derivation(kind="difference", first="room_rev", second="cleaning_cost"),
        ),
        (
            "Predict the total of cleaning cost and water use",
            Derivation(kind="sum", first="cleaning_cost", second="water_use"),
        ),
        (
            "Predict the ratio of cleaning cost to room revenue",
            Derivation(kind="ratio", first="cleaning_cost", second="room_rev"),
        ),
    ],
)
def test_both_sides_of_an_operation_are_numbers_of_the_table(goal: str, expected: Derivation | None) -> None:
    assert _plan(goal, STAYS).derivation == expected


GAMES = {
    "table": "games",
    "rows": 2_000,
    "columns": [
        _column("home_goals", "integer", min=0, max=7, q50=1, distinct=8),
        _column("away_goals", "integer", min=0, max=6, q50=1, distinct=7),
        _column("fans", "integer", min=200, max=60_000, q50=9_000),
        _column("club_age_years", "integer", min=1, max=140, q50=60, distinct=120),
        _column("pitch_m2", "integer", min=4_000, max=8_000, q50=7_000),
        _column("hour", "integer", min=11, max=21, q50=15, distinct=10),
    ],
}


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Predict the total goals", Derivation(kind="sum", first="home_goals", second="away_goals")),
        ("Predict the goal difference", Derivation(kind="difference", first="home_goals", second="away_goals")),
        ("Predict fans per year of club age", Derivation(kind="ratio", first="fans", second="club_age_years")),
        ("Predict fans per square metre", Derivation(kind="ratio", first="fans", second="pitch_m2")),
        ("Predict fans per hour of the day", None),
        ("Predict the total fans", None),
    ],
)
def test_shares_and_totals_have_both_of_their_columns(goal: str, expected: Derivation | None) -> None:
    assert _plan(goal, GAMES).derivation == expected


def test_an_operation_with_one_known_side_is_asked_about() -> None:
    planned = run_planner("Predict the room revenue minus the commission", [STAYS])
    assert isinstance(planned, PlannerQuestion)
    assert "room_rev" in planned.options


def test_revenue_is_forecast_as_quantity_times_price() -> None:
    plan = _plan("How much revenue will we make in each of the next 8 weeks?", RECEIPTS)
    assert plan.derivation == Derivation(kind="product", first="qty", second="unit_price", is_revenue=True)
    assert plan.aggregation is not None
    assert (plan.aggregation.column, plan.aggregation.measure) == (plan.derivation.name, "sum")
    assert plan.understanding is not None
    assert "revenue (qty * unit_price)" in plan.understanding.text


def test_a_threshold_is_one_of_the_computed_time() -> None:
    plan = _plan("Will it take longer than two weeks until a car is fixed?", REPAIRS)
    assert plan.derivation is not None
    assert plan.cut is not None
    assert (plan.derivation.kind, plan.cut.above, plan.cut.value) == ("elapsed", True, 14.0)


def test_a_column_that_holds_the_time_is_taken_instead() -> None:
    columns = [*REPAIRS["columns"], _column("repair_days", "number", min=0, max=60, q50=4)]
    plan = _plan("How many days does a repair take?", {**REPAIRS, "columns": columns})
    assert (plan.target, plan.derivation) == ("repair_days", None)


@pytest.mark.parametrize(
    ("derivation", "expected"),
    [
        (Derivation(kind="elapsed", first="b", second="a"), [1.5, None]),
        (Derivation(kind="elapsed", first="b", second="a", unit="hours"), [36.0, None]),
        (Derivation(kind="delay", first="a", second="b", unit="minutes"), [-2160.0, None]),
        (Derivation(kind="later", first="b", second="a"), ["yes", None]),
        (Derivation(kind="present", first="b"), ["yes", "no"]),
        (Derivation(kind="sum", first="x", second='y"y'), [5.0, 4.0]),
        (Derivation(kind="difference", first="x", second='y"y'), [1.0, 4.0]),
        (Derivation(kind="product", first="x", second='y"y'), [6.0, 0.0]),
        (Derivation(kind="ratio", first="x", second='y"y'), [1.5, None]),
    ],
)
def test_the_sql_computes_what_its_name_says(derivation: Derivation, expected: list[object]) -> None:
    rows = """
        SELECT TIMESTAMP '2024-01-01 00:00' AS a, TIMESTAMP '2024-01-02 12:00' AS b, 3 AS x, 2 AS "y""y"
        UNION ALL SELECT TIMESTAMP '2024-03-01', NULL, 4, 0
    """
    name = '"' + derivation.name.replace('"', '""') + '"'
    with duckdb.connect() as connection:
        beside = connection.sql(select_with_column(rows, derivation))
        assert [row[0] for row in beside.select(name).fetchall()] == expected
        instead = connection.sql(select_with_derivation(rows, derivation))
        assert set(derivation.outcome_columns).isdisjoint(instead.columns)
        assert [row[0] for row in instead.select(name).fetchall()] == [v for v in expected if v is not None]


WARD_STAYS = {
    "table": "ward_stays",
    "rows": 3_000,
    "columns": [
        _column("patient_age", "integer", min=1, max=99, q50=60),
        _dates("admitted", "2023-01-02", "2024-12-20"),
        _dates("discharged", "2023-01-05", "2025-02-01"),
        _column("tests_done", "integer", min=1, max=60, q50=9),
        _column("readmitted_30d", "integer", min=0, max=1, q50=0, distinct=2),
    ],
}


@pytest.mark.parametrize("goal", ["length of stay prediction", "How long will a patient stay?"])
def test_an_age_is_no_duration(goal: str) -> None:
    elapsed = Derivation(kind="elapsed", first="discharged", second="admitted")
    assert _plan(goal, WARD_STAYS).derivation == elapsed


def test_a_flag_that_holds_the_bound_is_meant_instead_of_a_time() -> None:
    plan = _plan("who comes back within 30 days", WARD_STAYS)
    assert (plan.target, plan.derivation, plan.cut) == ("readmitted_30d", None, None)
