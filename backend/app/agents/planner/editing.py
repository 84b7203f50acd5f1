"""A plan changed by its user: which settings there are, what a change leaves open, and what cannot be done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from app.agents.model_trainer.candidates import LINEAR_FAMILY
from app.agents.planner.output import Plan
from app.agents.planner.plan import steps
from app.agents.planner.stages import STAGES, wrong_stages
from app.json_types import JsonValue
from app.modeling.problem.family_catalog import FAMILIES, FAMILIES_BY_NAME
from app.modeling.problem.metrics import METRICS, REGRESSION_METRICS
from app.modeling.problem.names import nearest_names

SETTINGS = tuple(name for name in Plan.model_fields if name not in ("source", "steps", "notes"))
"""What a user may change of a plan; its steps follow from its stages."""

_OF_THE_TARGET = ("kind", "metric", "positive_class", "cut", "outlook", "barriers")
"""What was chosen for one target says nothing of another."""

_MAX_NAMED = 500
"""Columns that a question lists as answers; of wider tables they are checked when the answer is read."""

Tables = Mapping[str, Sequence[str]]
"""Table -> its columns, of the tables that were read."""


class Wrong(Exception):
    """A plan that cannot be carried out as it was changed; the text says why, and what can."""


def edited(plan: Plan, changes: Mapping[str, Any], tables: Tables) -> Plan:
    """The plan with these settings instead of its own. Raises Wrong."""
    unknown = next((name for name in changes if name not in SETTINGS), None)
    if unknown is not None:
        close = ", ".join(nearest_names(unknown, SETTINGS)) or ", ".join(SETTINGS)
        raise Wrong(f"A plan has no setting {unknown!r}; the nearest are {close}.")
    moved = changes.get("target", plan.target) != plan.target
    stale: dict[str, Any] = dict.fromkeys(_OF_THE_TARGET) if moved else {}
    try:
        made = Plan.model_validate({**plan.model_dump(mode="json"), **stale, **changes})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise Wrong(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    if moved and "exclude" not in changes:
        made = made.model_copy(update={"exclude": [name for name in made.exclude if name != made.target]})
    if reason := impossible(made, tables) or _unknown(made.column_types, made, tables) or _contradiction(made):
        raise Wrong(reason)
    return made.model_copy(update={"steps": steps(made)})


def impossible(plan: Plan, tables: Tables) -> str | None:
    """Why a plan cannot be carried out with the tables that were read; None when it can."""
    return _wrong_columns(plan, tables) or _wrong_fits(plan) or wrong_stages(plan.stages)


def _wrong_columns(plan: Plan, tables: Tables) -> str | None:
    unread = [table for table in plan.tables if table not in tables]
    if plan.source == "datasets" and (unread or not plan.tables):
        return f"Name at least one table whose schema you have read; not read: {', '.join(unread) or 'any'}."
    return _unknown([plan.target, plan.time_column, plan.group_column, *plan.exclude], plan, tables)


def _unknown(named: Iterable[str | None], plan: Plan, tables: Tables) -> str | None:
    known = [column for table in plan.tables or tables for column in tables[table]]
    unknown = dict.fromkeys(name for name in named if name and name not in known)
    hints = [f"{name!r} (nearest: {', '.join(nearest_names(name, known)) or 'none'})" for name in unknown]
    return f"The plan names columns that the tables do not have: {'; '.join(hints)}." if hints else None


def _wrong_fits(plan: Plan) -> str | None:
    for name in plan.families:
        if name not in FAMILIES_BY_NAME:
            close = ", ".join(nearest_names(name, FAMILIES_BY_NAME)) or ", ".join(FAMILIES_BY_NAME)
            return f"There is no family of models {name!r}; the nearest are {close}."
        if plan.kind and plan.kind not in FAMILIES_BY_NAME[name].kinds:
            fit = [family.name for family in FAMILIES if plan.kind in family.kinds]
            return f"{name} does not do {plan.kind}; these do: {', '.join(fit)}."
    readable = set(LINEAR_FAMILY.values())
    if plan.model == "interpretable" and set(plan.families) - readable:
        return (
            f"An interpretable model is one of {', '.join(sorted(readable))}; leave out `families` or `model`."
        )
    return None


def _contradiction(plan: Plan) -> str | None:
    if plan.metric and plan.kind and (plan.metric in REGRESSION_METRICS) != (plan.kind == "regression"):
        return f"{plan.metric} does not judge {plan.kind}."
    if plan.target in plan.exclude:
        return f"`{plan.target}` is what is predicted, so it cannot be left out."
    if plan.target in (plan.time_column, plan.group_column):
        return f"`{plan.target}` is what is predicted, so rows cannot be ordered or grouped by it."
    if plan.outlook and not plan.horizon:
        return f"The outlook {plan.outlook} needs a horizon: how many rows ahead?"
    if plan.barriers and not (plan.horizon and plan.outlook == "direction"):
        return "Barriers are of trades: they need a horizon and the outlook direction."
    if plan.every_step and (plan.kind == "classification" or not plan.horizon):
        return "Every step can be forecast of numbers only, and needs a horizon: how many rows ahead?"
    if plan.horizon and not plan.time_column:
        return "A horizon needs a time_column: the column that orders the rows in time."
    return None


def changes_schema(tables: Tables, listed: Sequence[str]) -> dict[str, Any]:
    """JSON Schema of `changes`. `listed`: every table of the session."""
    whole = Plan.model_json_schema()
    named: dict[str, Any] = {name: whole["properties"][name] for name in SETTINGS}
    columns = list(dict.fromkeys(column for names in tables.values() for column in names))
    if 0 < len(columns) <= _MAX_NAMED:
        column: dict[str, JsonValue] = {"enum": [*columns]}
        either: dict[str, JsonValue] = {"enum": [*columns, None]}
        named |= {"target": column, "time_column": either, "group_column": either}
        named["exclude"] = {"type": "array", "items": column}
    named["metric"] = {"enum": [*METRICS, None]}
    named["families"] = {"type": "array", "items": {"enum": [*FAMILIES_BY_NAME]}, "uniqueItems": True}
    named["stages"] = {"type": "array", "items": {"enum": [*STAGES]}, "minItems": 1}
    if listed:
        named["tables"] = {"type": "array", "items": {"enum": [*listed]}, "minItems": 1, "maxItems": 20}
    return {
        "type": "object",
        "properties": named,
        "additionalProperties": False,
        "minProperties": 1,
        "$defs": whole.get("$defs", {}),
    }
