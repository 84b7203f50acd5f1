"""The plan of a model of persons, whose table is made of their transactions first."""

from collections.abc import Sequence

from app.agents.goals.conditions.row_conditions import RowCondition
from app.agents.goals.persons.person_features import RECENCY, recent_rows, recent_total
from app.agents.goals.persons.person_request import PersonRequest
from app.agents.goals.persons.person_table import CUTOFF, PersonTable
from app.agents.goals.persons.person_texts import describe_reading
from app.agents.goals.series.request import DEFAULT_CONFIDENCE, GOAL_CONFIDENCE
from app.agents.planner.output import Plan, Understanding
from app.agents.planner.step_descriptions import describe_steps
from app.counts import describe_count
from app.json_types import JsonValue
from app.modeling.facts.computation_facts import ColumnReference


def make_person_plan(
    request: PersonRequest,
    conditions: Sequence[RowCondition],
    notes: Sequence[str] = (),
    *,
    wants_drivers: bool = False,
) -> Plan:
    """Make the plan of a request that has a table."""
    table, derivation = request.table, request.derivation
    if table is None:
        raise ValueError(f"there is no table of persons: {request.reason}")
    rows = request.transactions.table.name
    plan = Plan(
        tables=[rows, *([table.details.table] if table.details else [])],
        target=derivation.first if derivation else table.time,
        derivation=derivation,
        kind="classification" if table.is_classification else "regression",
        persons=table,
        filter=[*conditions],
        wants_drivers=wants_drivers,
        # The persons whose outcome is predicted are those of the rows that the model learns from.
        meets="known" if table.cutoffs == 1 else None,
        understanding=Understanding(
            text=describe_reading(table, rows, [*conditions], wants_drivers=wants_drivers),
            confidence=DEFAULT_CONFIDENCE if request.is_default_horizon else GOAL_CONFIDENCE,
        ),
        notes=[*notes, *request.notes],
    )
    return plan.model_copy(update={"steps": describe_steps(plan)})


def person_problem(table: PersonTable, rows: str) -> dict[str, JsonValue]:
    """Return the fields of the problem that a table of persons determines. `rows`: table of transactions.

    Its cutoffs order the rows, so that later outcomes judge the model, and rows of a person belong together.
    Persons of a single cutoff with an outcome are independent of each other. Neither is an input: the persons
    are told apart by what they did, and no model has seen the newest cutoff.
    """
    fields: dict[str, JsonValue] = {"made_of": rows}
    if table.is_classification:
        fields["positive_class"] = "yes"
    if table.cutoffs == 1:
        return {**fields, "time_column": None, "group_column": None}
    return {**fields, "time_column": CUTOFF, "group_column": table.person}


def person_references(table: PersonTable) -> list[ColumnReference]:
    """List the predictions without a model that a model of persons is compared with.

    Who was there lately comes back, and others do not; who spent much does so again.
    """
    days = describe_count(table.horizon_days, "day")
    if table.is_classification:
        return [ColumnReference(name=f"{RECENCY} alone", column=RECENCY)]
    column = recent_total(table, table.amount) if table.amount else recent_rows(table)
    return [ColumnReference(name=f"same value as in the last {days}", column=column)]
