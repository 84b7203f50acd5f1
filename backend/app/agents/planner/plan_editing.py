"""Changes of a plan by its user: editable settings, their JSON Schema and their validation."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic.json_schema import GenerateJsonSchema

from app.agents.planner.output import Plan
from app.agents.planner.stages import STAGES, stages_error
from app.agents.planner.step_descriptions import describe_steps
from app.agents.planner.user_requirements import TARGET_SETTINGS
from app.json_types import JsonValue
from app.modeling.problem.family_catalog import FAMILIES, FAMILIES_BY_NAME, LINEAR_FAMILY
from app.modeling.problem.metrics import METRICS, REGRESSION_METRICS
from app.modeling.problem.name_resolution import nearest_names

_DERIVED_FIELDS = (
    "source",
    "persons",
    "parsed_question",
    "row_search",
    "understanding",
    "is_understood",
    "steps",
    "notes",
)
SETTINGS = tuple(name for name in Plan.model_fields if name not in _DERIVED_FIELDS)
"""The settings of a plan that a user may change. The steps follow from the stages."""

_QUESTION_SETTINGS = ("question", "tables")
"""Settings that the parsed question depends on."""

_MAX_LISTED_COLUMNS = 500
"""Columns that the schema lists as allowed values. For wider tables they are checked after the answer."""

Tables = Mapping[str, Sequence[str]]
"""The columns of each table whose schema was read, by table."""


class InvalidPlan(Exception):
    """The changed plan cannot be carried out. The message says why and what to change."""


def edit_plan(plan: Plan, changes: Mapping[str, Any], tables: Tables) -> Plan:
    """Return the plan with changed settings. Raises InvalidPlan."""
    unknown = next((name for name in changes if name not in SETTINGS), None)
    if unknown is not None:
        nearest = ", ".join(nearest_names(unknown, SETTINGS)) or ", ".join(SETTINGS)
        raise InvalidPlan(f"A plan has no setting {unknown!r}; the nearest are {nearest}.")
    is_target_changed = changes.get("target", plan.target) != plan.target
    # Kind, metric and threshold were chosen for the first target and say nothing about another.
    stale: dict[str, Any] = dict.fromkeys(TARGET_SETTINGS) if is_target_changed else {}
    if not changes.keys().isdisjoint(_QUESTION_SETTINGS):
        stale |= {"parsed_question": None, "row_search": None}
    try:
        changed = Plan.model_validate({**plan.model_dump(mode="json"), **stale, **changes})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise InvalidPlan(f"{'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    # The new target may have been left out before; only the user's own list may contradict it.
    if is_target_changed and "exclude" not in changes:
        changed = changed.model_copy(
            update={"exclude": [name for name in changed.exclude if name != changed.target]}
        )
    if (
        reason := plan_error(changed, tables, plan.families if changed.kind == plan.kind else ())
        or _unknown_columns_error(changed.column_types, changed, tables)
        or _contradiction_error(changed)
    ):
        raise InvalidPlan(reason)
    return changed.model_copy(update={"steps": describe_steps(changed)})


def plan_error(plan: Plan, tables: Tables, kept_families: Sequence[str] = ()) -> str | None:
    """Return the reason why a plan cannot be carried out with the tables; None if it can.

    `kept_families`: those that an edited plan had before. Preferences may name families for either kind of
    target, and an edit of something else is not refused for that.
    """
    return _column_error(plan, tables) or _model_error(plan, kept_families) or stages_error(plan.stages)


def _column_error(plan: Plan, tables: Tables) -> str | None:
    unread = [table for table in plan.tables if table not in tables]
    if plan.source == "datasets" and (unread or not plan.tables):
        return f"Name at least one table whose schema you have read; not read: {', '.join(unread) or 'any'}."
    computed_table = plan.aggregation or plan.persons
    # Time and group of a table that is made of the rows are columns of that table.
    ordering = (
        [plan.time_column, plan.group_column] if computed_table is None else computed_table.source_columns
    )
    details = plan.persons.detail_columns if plan.persons else []
    computed = plan.derivation.name if plan.derivation else None
    return _unknown_columns_error(
        [
            plan.target,
            plan.derivation.second if plan.derivation else None,
            *(name for name in ordering if name != computed),
            *details,
            *plan.exclude,
            *(condition.column for condition in plan.filter),
        ],
        plan,
        tables,
    )


def _unknown_columns_error(names: Iterable[str | None], plan: Plan, tables: Tables) -> str | None:
    columns = [column for table in plan.tables or tables for column in tables[table]]
    unknown = dict.fromkeys(name for name in names if name and name not in columns)
    hints = [f"{name!r} (nearest: {', '.join(nearest_names(name, columns)) or 'none'})" for name in unknown]
    return f"The plan names columns that the tables do not have: {'; '.join(hints)}." if hints else None


def _model_error(plan: Plan, kept_families: Sequence[str]) -> str | None:
    for name in plan.families:
        if name not in FAMILIES_BY_NAME:
            nearest = ", ".join(nearest_names(name, FAMILIES_BY_NAME)) or ", ".join(FAMILIES_BY_NAME)
            return f"There is no family of models {name!r}; the nearest are {nearest}."
        if plan.kind and plan.kind not in FAMILIES_BY_NAME[name].kinds and name not in kept_families:
            fit = [family.name for family in FAMILIES if plan.kind in family.kinds]
            return f"{name} does not do {plan.kind}; these do: {', '.join(fit)}."
    readable = set(LINEAR_FAMILY.values())
    if plan.model == "interpretable" and set(plan.families) - readable:
        return (
            f"An interpretable model is one of {', '.join(sorted(readable))}; leave out `families` or `model`."
        )
    return None


def _contradiction_error(plan: Plan) -> str | None:
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
    if plan.aggregation and plan.time_column != plan.aggregation.time:
        return f"The series is ordered by its own column {plan.aggregation.time!r}."
    if plan.horizon and not plan.time_column:
        return "A horizon needs a time_column: the column that orders the rows in time."
    return None


def changes_schema(tables: Tables, table_names: Sequence[str]) -> dict[str, Any]:
    """Make the JSON Schema of `changes`. `table_names`: all tables of the session, read or not."""
    # The whole schema: a form shows that a field may be null, which a chat model need not be told.
    schema = Plan.model_json_schema(schema_generator=GenerateJsonSchema)
    properties: dict[str, Any] = {name: schema["properties"][name] for name in SETTINGS}
    columns = list(dict.fromkeys(column for names in tables.values() for column in names))
    if 0 < len(columns) <= _MAX_LISTED_COLUMNS:
        column: dict[str, JsonValue] = {"enum": [*columns]}
        optional_column: dict[str, JsonValue] = {"enum": [*columns, None]}
        properties |= {"target": column, "time_column": optional_column, "group_column": optional_column}
        properties["exclude"] = {"type": "array", "items": column}
    properties["metric"] = {"enum": [*METRICS, None]}
    properties["families"] = {"type": "array", "items": {"enum": [*FAMILIES_BY_NAME]}, "uniqueItems": True}
    properties["stages"] = {"type": "array", "items": {"enum": [*STAGES]}, "minItems": 1}
    if table_names:
        properties["tables"] = {
            "type": "array",
            "items": {"enum": [*table_names]},
            "minItems": 1,
            "maxItems": 20,
        }
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
        "$defs": _select_definitions(schema.get("$defs", {}), str(properties)),
    }


def _select_definitions(definitions: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Select the definitions that a schema refers to, and those that they refer to in turn.

    `text`: the schema as text. The fields of a plan that nobody edits have definitions, too.
    """
    selected: dict[str, Any] = {}
    for name, definition in definitions.items():
        if f"#/$defs/{name}'" in text:
            rest = {other: schema for other, schema in definitions.items() if other != name}
            selected |= {name: definition, **_select_definitions(rest, str(definition))}
    return selected
