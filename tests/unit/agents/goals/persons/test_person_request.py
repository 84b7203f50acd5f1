"""Goals about what single persons will do: the table that is made of their transactions."""

from typing import Any

import pytest
from tests.corpora.conversations import run_planner

from app.agents.goals.persons.person_features import list_features
from app.agents.goals.persons.person_table import PersonTable
from app.agents.planner.output import Plan
from app.modeling.facts.column_units import find_unit

CUSTOMER = {"name": "customer_id", "type": "integer", "hint": "id", "distinct": 300, "min": 1, "max": 300}
ORDERED = {
    **{"name": "ordered", "type": "datetime", "hint": "datetime", "distinct": 400},
    **{"min": "2024-01-01", "max": "2025-12-30"},
}
AMOUNT = {"name": "amount", "type": "number", "hint": "numeric", "distinct": 900, "min": 1.5, "max": 99.0}


def make_flag(name: str, *values: str) -> dict[str, Any]:
    top = [{"value": value} for value in values]
    return {"name": name, "type": "text", "hint": "category", "distinct": 2, "top": top, "values": list(values)}


def make_orders(*more: dict[str, Any], person: dict[str, Any] = CUSTOMER) -> dict[str, Any]:
    returned = make_flag("returned", "no", "yes")
    return {"table": "orders", "rows": 4000, "columns": [person, ORDERED, AMOUNT, returned, *more]}


def plan(goal: str, *schemas: dict[str, Any]) -> Plan:
    planned = run_planner(goal, list(schemas) or [make_orders()])
    assert isinstance(planned, Plan)
    return planned


def plan_table(goal: str, *schemas: dict[str, Any]) -> PersonTable:
    planned = plan(goal, *schemas)
    assert planned.is_understood
    assert planned.persons is not None
    return planned.persons


@pytest.mark.parametrize(
    ("goal", "outcome", "days", "cutoffs"),
    [
        ("which customers will order again in the next 90 days", "active", 90, 7),
        ("will a customer come back within 30 days?", "active", 30, 12),
        ("Predict repeat purchases over the next quarter", "active", 91, 7),
        ("which customers will buy in the next month", "active", 30, 12),
        ("who is about to stop buying? predict customers we are going to lose", "inactive", 30, 12),
        ("predict 60-day churn of customers", "inactive", 60, 11),
        ("customer lifetime value over the next year", "sum", 365, 1),
        ("predict how much each customer will spend next quarter", "sum", 91, 7),
        ("how many orders will each customer place next month", "count", 30, 12),
    ],
)
def test_a_table_of_persons_is_planned(goal: str, outcome: str, days: int, cutoffs: int) -> None:
    table = plan_table(goal)
    assert (table.person, table.time, str(table.end)) == ("customer_id", "ordered", "2025-12-31")
    assert (table.outcome, table.horizon_days, table.cutoffs) == (outcome, days, cutoffs)
    assert table.amount == ("amount" if outcome == "sum" else None)
    assert table.amounts == ["amount"]
    assert table.categories == ["returned"]


def test_the_understanding_says_what_is_made_of_what() -> None:
    planned = plan("which customers will order again in the next 90 days")
    assert planned.understanding is not None
    assert "if there is a row of `orders` in the 90 days from 2025-12-31 on" in planned.understanding.text
    assert "one row for each `customer_id` and cutoff from `orders`" in planned.understanding.text
    assert "for each of the customers (`customer_id`)" in planned.understanding.text
    [note] = planned.notes
    assert "holds for the 90 days to come if they are like the last ones" in note
    assert any("leak `active within 90 days`" in step for step in planned.steps)


@pytest.mark.parametrize(
    ("goal", "person", "noun"),
    [
        ("which clients will order again in the next 90 days", CUSTOMER, "clients"),
        ("who is about to stop buying?", CUSTOMER, "customers"),
        ("who will order again in the next 90 days", {**CUSTOMER, "name": "cust_id"}, "customers"),
    ],
)
def test_persons_are_called_by_the_word_of_the_goal(goal: str, person: dict[str, Any], noun: str) -> None:
    assert plan_table(goal, make_orders(person=person)).noun == noun


@pytest.mark.parametrize("outcome", ["sum", "count"])
def test_no_number_of_days_is_the_unit_of_an_outcome_or_input(outcome: str) -> None:
    goal = {
        "sum": "predict how much each customer will spend",
        "count": "how many orders will each customer place",
    }
    refunds = {**AMOUNT, "name": "amount_eur"}
    table = plan_table(
        f"{goal[outcome]} in the next 90 days", {**make_orders(), "columns": [CUSTOMER, ORDERED, refunds]}
    )
    units = {name: find_unit(name) for name in (table.name, *(entry.name for entry in list_features(table)))}
    assert {unit.text for unit in units.values() if unit} == {"euros"}
    assert (units[table.name] is not None) == (outcome == "sum")


def test_a_horizon_that_the_goal_does_not_say_is_an_assumption() -> None:
    planned = plan("which customers will order again?")
    assert planned.persons is not None
    assert planned.persons.horizon_days == 30
    assert "The goal says no time: the 30 days after a cutoff are taken" in planned.notes[0]


@pytest.mark.parametrize(
    ("goal", "columns", "target"),
    [
        ("predict which orders will be returned", [], "returned"),
        ("predict which customers will churn", [make_flag("churned", "no", "yes")], "churned"),
        ("which customers are we about to lose", [make_flag("status", "active", "cancelled")], "status"),
    ],
)
def test_a_column_that_tells_the_outcome_is_predicted(
    goal: str, columns: list[dict[str, Any]], target: str
) -> None:
    planned = plan(goal, make_orders(*columns))
    assert (planned.target, planned.persons) == (target, None)


def test_the_status_of_an_order_does_not_tell_who_orders_again() -> None:
    orders = make_orders(make_flag("status", "delivered", "cancelled"))
    assert "status" in plan_table("which customers will order again in the next 90 days", orders).categories


@pytest.mark.parametrize("goal", ["how many customers ordered again in 2025?", "number of orders next month"])
def test_figures_and_forecasts_of_all_are_of_no_single_person(goal: str) -> None:
    planned = run_planner(goal, [make_orders()])
    assert not isinstance(planned, Plan) or (planned.is_understood and planned.persons is None)


@pytest.mark.parametrize(
    ("goal", "person", "reason"),
    [
        ("which customers will order again within 2 years", CUSTOMER, "cover 730 days, which is too short"),
        ("will the customer order again", {**CUSTOMER, "distinct": 1, "hint": "constant"}, "has one value"),
    ],
)
def test_a_history_that_gives_no_table_is_an_error(goal: str, person: dict[str, Any], reason: str) -> None:
    planned = plan(goal, make_orders(person=person))
    assert not planned.is_understood
    assert reason in planned.notes[0]


def test_rows_without_a_person_and_rows_that_take_back_others_are_stated() -> None:
    refunds = {**AMOUNT, "min": -80.0}
    orders = {
        **make_orders(),
        "columns": [{**CUSTOMER, "missing": 0.25}, ORDERED, refunds],
    }
    planned = plan("which customers will order again in the next 90 days", orders)
    assert planned.persons is not None
    assert planned.persons.returns == "amount"
    assert planned.notes[0] == "Rows without `customer_id` are left out: 25.0% of `orders`."
    assert "`amount` below zero" in planned.notes[1]


def test_a_table_of_persons_brings_what_never_changes() -> None:
    joined = {**ORDERED, "name": "joined"}
    visits = {**AMOUNT, "name": "total_spent"}
    city = {**make_flag("city", "Bern", "Basel"), "distinct": 12}
    persons = {
        "table": "customers",
        "rows": 300,
        "columns": [{**CUSTOMER, "unique": True}, city, joined, visits],
    }
    planned = plan("which customers will order again in the next 90 days", persons, make_orders())
    assert planned.tables == ["orders", "customers"]
    assert planned.persons is not None
    assert planned.persons.details is not None
    assert (planned.persons.details.columns, planned.persons.details.dates) == (["city"], ["joined"])
    assert "`total_spent`" in planned.notes[-1]


def test_rows_that_the_goal_names_are_the_only_ones() -> None:
    planned = plan(
        "which customers will order again in the next 90 days, only for Bern",
        make_orders(make_flag("city", "Bern", "Basel")),
    )
    assert [condition.description for condition in planned.filter] == ["`city` is Bern"]
    assert planned.persons is not None
