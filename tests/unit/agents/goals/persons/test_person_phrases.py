"""Goals about single persons in the words of different people, and the calendar periods that they name."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.planner.output import Plan

from .test_person_request import AMOUNT, CUSTOMER, ORDERED, make_flag, make_orders, plan, plan_table

VISITS = {
    "table": "visits",
    "rows": 5000,
    "columns": [
        {**CUSTOMER, "name": "patient_id"},
        {**ORDERED, "name": "visit_date"},
        {**AMOUNT, "name": "cost"},
        make_flag("department", "cardiology", "surgery"),
    ],
}
CHECK_INS = {
    "table": "checkins",
    "rows": 9000,
    "columns": [
        {**CUSTOMER, "name": "member_no"},
        {**ORDERED, "name": "checked_in"},
        make_flag("studio", "north", "south"),
    ],
}
GIFTS = {
    "table": "gifts",
    "rows": 3000,
    "columns": [{**CUSTOMER, "name": "donor_id"}, {**ORDERED, "name": "gift_date"}, AMOUNT],
}


@pytest.mark.parametrize(
    ("goal", "rows", "outcome", "days"),
    [
        ("Which of our customers are most likely to buy again this quarter?", make_orders(), "active", 91),
        ("I'd like a churn score for every customer", make_orders(), "inactive", 30),
        ("predict who won't come back", make_orders(), "inactive", 30),
        ("which customers will never order again", make_orders(), "inactive", 30),
        ("rank customers by how much they will spend over the coming 6 months", make_orders(), "sum", 183),
        ("Expected number of orders per customer in the next 3 months", make_orders(), "count", 91),
        ("which patients are going to return within 30 days", VISITS, "active", 30),
        ("Identify members at risk of quitting", CHECK_INS, "inactive", 14),
        ("Who'll give again next year?", GIFTS, "active", 365),
        ("Estimate CLV for each client, 12 months", make_orders(), "sum", 365),
        ("likelihood of a customer purchasing in the next two weeks", make_orders(), "active", 14),
        ("forecast each customer's revenue for the next quarter", make_orders(), "sum", 91),
        ("how often will each member come in the next 4 weeks?", CHECK_INS, "count", 28),
        ("Give me a list of customers we might lose in the next 60 days", make_orders(), "inactive", 60),
        ("Flag customers that will probably not order again", make_orders(), "inactive", 30),
        ("How much is every customer going to spend in the next half year?", make_orders(), "sum", 183),
        ("predict repeat buyers", make_orders(), "active", 30),
        ("What are the chances that each customer orders again within a month?", make_orders(), "active", 30),
    ],
)
def test_goals_of_different_people_are_understood(
    goal: str, rows: dict[str, Any], outcome: str, days: int
) -> None:
    table = plan_table(goal, rows)
    assert (table.outcome, table.horizon_days) == (outcome, days)


@pytest.mark.parametrize(
    "goal",
    ["which customers did not order in the last 90 days", "which customers have not come back since 2024"],
)
def test_who_was_not_there_is_a_question_about_the_past(goal: str) -> None:
    planned = run_planner(goal, [make_orders()])
    assert not isinstance(planned, Plan) or planned.persons is None


@pytest.mark.parametrize(
    ("goal", "rows", "every"),
    [
        ("how many customers will order next month", make_orders(), "month"),
        ("number of patients who will come next week", VISITS, "week"),
    ],
)
def test_a_number_of_persons_is_a_series_that_counts_each_once(
    goal: str, rows: dict[str, Any], every: str
) -> None:
    planned = plan(goal, rows)
    assert planned.persons is None
    assert planned.aggregation is not None
    assert (planned.aggregation.measure, planned.aggregation.every) == ("distinct", every)


@pytest.mark.parametrize(
    ("period", "days"),
    [("next quarter", 91), ("this year", 365), ("in January", 30), ("in Q1", 91), ("next week", 7)],
)
def test_the_plan_says_which_days_stand_for_a_calendar_period(period: str, days: int) -> None:
    planned = plan(f"which customers will order {period}", make_orders())
    assert planned.persons is not None
    assert planned.persons.horizon_days == days
    assert planned.notes[0].startswith(f"`{period}` is taken as the {days} days from 2025-12-31 on")


@pytest.mark.parametrize(
    ("period", "gap", "reach"), [("in March", 60, 90), ("in Q3", 182, 273), ("next October", 274, 304)]
)
def test_a_month_that_does_not_follow_the_data_is_an_error(period: str, gap: int, reach: int) -> None:
    planned = plan(f"which customers will order again {period}", make_orders())
    assert not planned.is_understood
    assert f"begins {gap} days later" in planned.notes[0]
    assert f"Ask for the next {reach} days" in planned.notes[0]


def test_a_verb_is_no_month() -> None:
    assert plan_table("which customers may stop ordering within 30 days").horizon_days == 30
