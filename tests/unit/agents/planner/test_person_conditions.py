"""Which persons and transactions a goal about persons is about, and what it asks beside their outcome."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner
from tests.unit.agents.goals.persons.test_person_request import AMOUNT, CUSTOMER, make_flag, make_orders, plan

from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.planner.output import Plan

COUNTRY = {**make_flag("country", "Germany", "France", "Italy"), "distinct": 3}
CUSTOMERS: dict[str, Any] = {
    "table": "customers",
    "rows": 300,
    "columns": [{**CUSTOMER, "unique": True}, COUNTRY],
}
ORDERS = make_orders(make_flag("channel", "online", "store"))


@pytest.mark.parametrize(
    ("goal", "of_rows", "of_persons"),
    [
        ("which customers in Germany will order again in the next 60 days", "", "`country` is Germany"),
        ("predict churn for customers from Germany", "", "`country` is Germany"),
        ("predict churn of customers who are not in France", "", "`country` is not France"),
        ("predict churn, only online orders", "`channel` is online", ""),
        ("who will order again online in the next 60 days", "`channel` is online", ""),
        ("which german customers will order again within 60 days", "", "`country` is Germany"),
        ("who will order again online or in a store", "", ""),
    ],
)
def test_conditions_are_those_of_rows_or_of_persons(goal: str, of_rows: str, of_persons: str) -> None:
    planned = plan(goal, ORDERS, CUSTOMERS)
    assert planned.persons is not None
    assert planned.persons.details is not None
    assert describe_conditions(planned.filter) == of_rows
    assert describe_conditions(planned.persons.details.filter) == of_persons
    assert planned.understanding is not None
    assert not of_persons or f"customers (`customer_id`) whose {of_persons}" in planned.understanding.text


@pytest.mark.parametrize(
    ("goal", "note"),
    [
        (
            "which customers born after 1990 will order again within 60 days",
            "`1990` of the goal restricts nothing",
        ),
        ("which customers will order again within 60 days, since 2025", "`2025` of the goal restricts nothing"),
        ("which customers will order again in the next 60 days", ""),
    ],
)
def test_a_number_that_restricts_nothing_is_stated(goal: str, note: str) -> None:
    planned = plan(goal, ORDERS, CUSTOMERS)
    stated = [text for text in planned.notes if "restricts nothing" in text]
    assert [text.startswith(note) for text in stated] == ([True] if note else [])


@pytest.mark.parametrize(
    "goal", ["What drives churn?", "why do customers stop ordering?", "which factors explain who orders again"]
)
def test_drivers_of_what_persons_do_are_measured(goal: str) -> None:
    planned = plan(goal, ORDERS)
    assert planned.persons is not None
    assert planned.wants_drivers
    assert planned.understanding is not None
    assert "On held-out customers I will measure what that goes with." in planned.understanding.text


def test_how_many_will_stop_is_the_sum_of_their_probabilities() -> None:
    planned = plan("how many customers will churn next month", ORDERS)
    assert planned.persons is not None
    assert planned.persons.outcome == "inactive"
    assert planned.notes[0].startswith("How many of the customers these will be is the sum")


@pytest.mark.parametrize(
    "goal", ["predict churn", "which customers will churn in the next 90 days", "what drives churn?"]
)
def test_a_table_with_one_row_for_each_customer_has_its_own_target(goal: str) -> None:
    churned = {**CUSTOMERS, "columns": [*CUSTOMERS["columns"], make_flag("churned", "no", "yes"), AMOUNT]}
    planned = run_planner(goal, [churned])
    assert not isinstance(planned, Plan) or (planned.target, planned.persons) == ("churned", None)
