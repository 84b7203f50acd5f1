"""Tables that are named after what is predicted of them, as files often are."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.corpora.conversations import PlannerQuestion, run_planner

from app.agents.goals.tables.profiles import make_table_profile
from app.agents.planner.output import Plan


def _column(name: str, type_: str = "number", **facts: Any) -> dict[str, Any]:
    hints = {"datetime": "datetime", "text": "category"}
    base = {"name": name, "type": type_, "hint": hints.get(type_, "numeric"), "distinct": 300, "missing": 0.0}
    return {**base, "unique": False, "top": None, "min": 1.0, "max": 90.0, "q50": 20.0, **facts}


def _flag(name: str, *values: object) -> dict[str, Any]:
    top = [{"value": value} for value in values or (0, 1)]
    return _column(name, "text" if values else "integer", distinct=2, top=top, min=0, max=1, q50=0)


def _table(name: str, *columns: dict[str, Any]) -> dict[str, Any]:
    return {"table": name, "rows": 900, "columns": [*columns]}


TABLES: Mapping[str, dict[str, Any]] = {
    table["table"]: table
    for table in (
        _table("fraud", _column("v1"), _column("v2"), _column("amount"), _flag("is_fraud")),
        _table("churn", _column("tenure"), _column("monthly_charge"), _flag("Churned", "No", "Yes")),
        _table("house_prices", _column("lot_area"), _column("bedrooms"), _column("SalePrice")),
        _table("flights", _column("flight", "integer"), _column("air_time"), _column("seats")),
        _table("card_default", _column("limit_bal"), _column("bill_amt"), _flag("default_payment_next_month")),
        _table(
            "flowers", _column("petal_length"), _column("sepal_width"), _flag("species", "setosa", "virginica")
        ),
        _table(
            "listings", _column("minimum_nights", "integer"), _column("price"), _column("reviews", "integer")
        ),
        _table(
            "tickets",
            _column("created_at", "datetime", min="2025-01-01T04:10:00", max="2025-06-01T04:10:00"),
            _column("closed_at", "datetime", min="2025-01-02T04:10:00", max="2025-06-03T04:10:00"),
            _column("first_response_min", "integer"),
            _flag("escalated"),
        ),
        _table(
            "members",
            _column("birth_date", "datetime", min="1950-01-01T00:00:00", max="2005-01-01T00:00:00"),
            _column("signup_date", "datetime", min="2021-01-01T00:00:00", max="2025-05-01T00:00:00"),
            _column("fee"),
            _flag("churned"),
        ),
        _table(
            "bike_sharing",
            _column("hr", "integer", min=0, max=23, q50=11),
            _column("casual", "integer", min=0, max=99, q50=47),
            _column("registered", "integer", min=5, max=399, q50=202),
            _column("cnt", "integer", min=18, max=492, q50=251),
        ),
        _table("gym_attendance", _column("age"), _column("distance_km"), _column("attendance_pct")),
        _table("daily_sales", _column("on", "datetime"), _column("discount"), _column("sales")),
        _table("order_lines", _column("weight_kg"), _column("line_no", "integer"), _column("order_id", "text")),
        _table(
            "parcels", _column("weight_kg"), _column("postage"), _column("parcel_no", "integer", unique=True)
        ),
    )
}


@pytest.mark.parametrize(
    ("table", "goal", "target"),
    [
        ("fraud", "Detect fraud", "is_fraud"),
        ("fraud", "fraud detection", "is_fraud"),
        ("churn", "predict churn", "Churned"),
        ("house_prices", "Predict house prices", "SalePrice"),
        ("house_prices", "predict the price of a house", "SalePrice"),
        ("gym_attendance", "predict gym attendance", "attendance_pct"),
        ("daily_sales", "predict daily sales", "sales"),
        ("card_default", "credit risk model", "default_payment_next_month"),
        ("flowers", "Classify the flowers", "species"),
        ("bike_sharing", "predict bike rentals", "cnt"),
        ("bike_sharing", "predict casual bike rentals", "casual"),
        ("listings", "how much should I charge per night", "price"),
    ],
)
def test_a_column_is_meant_that_the_table_is_named_after(table: str, goal: str, target: str) -> None:
    plan = run_planner(goal, [TABLES[table]])
    assert isinstance(plan, Plan), plan
    assert plan.target == target


@pytest.mark.parametrize("goal", ["train a model", "build the best model you can"])
def test_a_goal_without_a_target_is_about_the_column_that_the_table_is_named_after(goal: str) -> None:
    plan = run_planner(goal, [TABLES["churn"]])
    assert isinstance(plan, Plan)
    assert plan.target == "Churned"


def test_a_table_that_is_named_after_its_rows_says_no_target() -> None:
    assert isinstance(run_planner("train a model", [TABLES["parcels"]]), PlannerQuestion)


@pytest.mark.parametrize(
    ("table", "subject", "columns"),
    [
        ("fraud", "", ["is_fraud"]),
        ("house_prices", "house", ["SalePrice"]),
        ("gym_attendance", "gym", ["attendance_pct"]),
        ("parcels", "parcels", []),
        ("flights", "flights", []),
        ("order_lines", "order lines", []),
    ],
)
def test_the_subject_of_a_table_is_its_name_without_the_nouns_of_columns(
    table: str, subject: str, columns: Sequence[str]
) -> None:
    profile = make_table_profile(TABLES[table])
    assert profile.subject == subject
    assert [column.name for column in profile.columns_in_name] == columns


TRIPS = _table(
    "taxi_trips",
    _column("pickup_datetime", "datetime", min="2024-01-01T00:00:00", max="2024-01-21T19:00:00"),
    _column("dropoff_datetime", "datetime", min="2024-01-01T00:45:00", max="2024-01-21T19:34:00"),
    _column("trip_distance"),
    _column("fare_amount"),
)


@pytest.mark.parametrize(
    "goal", ["predict trip duration", "how long will a trip take?", "predict travel time from the distance"]
)
def test_a_duration_is_the_time_between_two_dates_whatever_else_shares_its_words(goal: str) -> None:
    plan = run_planner(goal, [TRIPS])
    assert isinstance(plan, Plan), plan
    assert plan.target_name == "hours from pickup_datetime to dropoff_datetime"


STAFF = _table(
    "staff",
    _column("Age"),
    _flag("Department", "R&D", "Sales"),
    _flag("Attrition", "Yes", "No"),
    _column("income"),
)


def test_who_departs_leaves_no_department() -> None:
    plan = run_planner("which employees are likely to leave?", [STAFF])
    assert isinstance(plan, Plan), plan
    assert plan.target == "Attrition"


HOUSES = _table("house_prices", _column("year_built", "integer", min=1900, max=2020), _column("SalePrice"))


@pytest.mark.parametrize("goal", ["forecast house prices", "predict future house prices"])
def test_years_of_building_are_no_times_of_a_forecast(goal: str) -> None:
    plan = run_planner(goal, [HOUSES])
    assert isinstance(plan, Plan), plan
    assert (plan.target, plan.aggregation, plan.horizon) == ("SalePrice", None, None)


def test_the_time_of_another_activity_is_computed_from_the_dates() -> None:
    plan = run_planner("predict resolution time", [TABLES["tickets"]])
    assert isinstance(plan, Plan), plan
    assert plan.derivation is not None
    assert (plan.derivation.first, plan.derivation.second) == ("closed_at", "created_at")
    plan = run_planner("predict the response time", [TABLES["tickets"]])
    assert isinstance(plan, Plan), plan
    assert plan.target == "first_response_min"


def test_a_yes_or_no_is_no_answer_to_when_something_will_happen() -> None:
    assert isinstance(run_planner("When will a ticket be escalated?", [TABLES["tickets"]]), PlannerQuestion)


@pytest.mark.parametrize(
    ("goal", "condition"),
    [
        ("predict churn of members born after 1990", "`birth_date` is at least 1991-01-01"),
        ("predict churn of members who signed up since 2025", "`signup_date` is at least 2025-01-01"),
        ("predict churn of members who signed up after March 2024", "`signup_date` is at least 2024-04-01"),
        ("predict churn of members who signed up after December 2023", "`signup_date` is at least 2024-01-01"),
    ],
)
def test_a_bound_belongs_to_the_date_of_its_verb(goal: str, condition: str) -> None:
    plan = run_planner(goal, [TABLES["members"]])
    assert isinstance(plan, Plan), plan
    assert plan.understanding is not None
    assert condition in plan.understanding.text
