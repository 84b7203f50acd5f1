"""Requirements of the user that no plan may lose: preferences, and what goal and answers say in words.

A chat model may overlook any of them. They are applied in code after the planner, so that every later agent
works on a plan that keeps them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.agents.goals.columns import named_columns
from app.agents.goals.columns.ahead_names import lies_ahead
from app.agents.goals.goal import Goal
from app.agents.goals.horizon import count_rows_ahead, is_counted_in_rows
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.model_families import requested_families
from app.agents.goals.tables.profiles import TableProfile, make_table_profile
from app.agents.planner.output import MistakeSide, Plan
from app.agents.planner.preferences import PlanPreferences, resolve_preferences
from app.agents.planner.step_descriptions import describe_steps
from app.agents.planner.stored_prices import PRICES
from app.modeling.problem.family_catalog import FAMILIES_BY_NAME
from app.modeling.problem.metrics import REGRESSION_METRICS

if TYPE_CHECKING:
    from app.tools.invoke import ToolAnswer  # LangGraph, which the API need not load

TARGET_SETTINGS = (
    "kind",
    "metric",
    "positive_class",
    "derivation",
    "cut",
    "aggregation",
    "persons",
    "outlook",
    "barriers",
)
"""Settings of a plan that belong to its target and are reset with it."""
_SINGLE_PREFERENCES = (
    "target",
    "time_column",
    "group_column",
    "metric",
    "horizon",
    "positive_class",
    "costs",
    "model",
)
"""Preferences that replace the plan's setting of the same name."""
MAX_CALENDAR_RATIO = 1.5
"""Ratio of horizons that may be of the same words: 7 days of a week to 5 of trade, with holidays."""
MAX_NOTES = 20
"""Notes of a plan, see `Plan.notes`."""


@dataclass(frozen=True)
class UserRequirements:
    """Preferences, the goal, and what the user said to the planner afterwards, oldest first."""

    preferences: PlanPreferences
    goal: str
    replies: Sequence[str] = ()

    def apply(self, plan: Plan, tables: Sequence[TableProfile]) -> Plan:
        """Return the plan with every requirement, and a note on each setting that it had otherwise.

        A question about stored rows has no model that a requirement could concern.
        """
        if plan.question is not None:
            return plan
        home = _home_table(plan, tables)
        required = self._changes_of_preferences(plan, tables)
        preferred_plan = _change(plan, required)
        in_words = self._changes_of_words(preferred_plan, home) if home else {}
        # Preferences take precedence over words, but both may name columns to leave out.
        weaker = {key: value for key, value in in_words.items() if key == "exclude" or key not in required}
        changed = _limit_time(_change(preferred_plan, weaker), self.preferences.time_budget_s)
        return changed if changed == plan else _describe_changes(plan, changed)

    def keep_exclusions(self, plan: Plan, tables: Sequence[TableProfile]) -> Plan:
        """Return a plan that its user edited, still without the columns that the preferences leave out."""
        resolved = resolve_preferences(self.preferences, tables, {}).preferences
        exclude = _join(plan.exclude, resolved.exclude, plan.target)
        if exclude == plan.exclude or plan.question is not None:
            return plan
        restored = [name for name in exclude if name not in plan.exclude]
        note = f"{_list_names(restored)} stays left out: the session's preferences say so."
        return plan.model_copy(update={"exclude": exclude, "notes": [*plan.notes, note][:MAX_NOTES]})

    def _changes_of_preferences(self, plan: Plan, tables: Sequence[TableProfile]) -> dict[str, Any]:
        resolved = resolve_preferences(self.preferences, tables, {})
        unknown = {column.key for column in resolved.unknown}
        preferences = resolved.preferences
        changes: dict[str, Any] = {}
        for name in _SINGLE_PREFERENCES:
            value = getattr(preferences, name)
            if value is not None and name not in unknown:
                changes[name] = value
        target = changes.get("target", plan.target)
        for name in ("time_column", "group_column"):
            if changes.get(name) == target:  # rows cannot be ordered or grouped by what is predicted
                del changes[name]
        if preferences.problem:
            changes["kind"] = preferences.problem
        elif preferences.metric and plan.kind and _contradicts(preferences.metric, plan.kind):
            changes["kind"] = "regression" if preferences.metric in REGRESSION_METRICS else "classification"
        if preferences.families:
            changes["families"] = list(preferences.families)
        if preferences.column_types:
            changes["column_types"] = {**plan.column_types, **preferences.column_types}
        if changes.get("kind") == "regression":
            changes["cut"] = None  # a threshold makes classes of the amount that is asked for
        changes["exclude"] = _join(plan.exclude, preferences.exclude, target)
        return changes

    def _changes_of_words(self, plan: Plan, home: TableProfile) -> dict[str, Any]:
        """Return the settings that the words determine. The latest words decide; exclusions add up."""
        changes: dict[str, Any] = {}
        excluded: list[str] = []
        for text in (self.goal, *self.replies):
            goal = parse_goal(text)
            excluded += named_columns.excluded_columns(goal, home, plan.target)[0]
            changes |= _spoken_settings(plan, goal) | _forecast_changes(plan, goal, home)
        return {**changes, "exclude": _join(plan.exclude, excluded, plan.target)}


def read_profiles(plan: Plan, answers: Sequence["ToolAnswer"]) -> list[TableProfile]:
    """Return the profiles of the plan's tables that the planner has read, in the plan's order."""
    if plan.source == "prices":
        return [PRICES]
    profiles = {
        profile.name: profile
        for answer in answers
        if answer.request.name == "get_dataset_schema" and answer.refusal is None
        for profile in [make_table_profile(answer.value)]
    }
    return [profiles[name] for name in plan.tables if name in profiles]


def _home_table(plan: Plan, tables: Sequence[TableProfile]) -> TableProfile | None:
    """Return the columns of all planned tables as one table, under the name of the target's."""
    if not tables:
        return None
    home = next((table for table in tables if table.column(plan.target)), tables[0])
    names = {column.name for column in home.columns}
    others = [column for table in tables for column in table.columns if column.name not in names]
    return TableProfile(home.name, home.rows, (*home.columns, *others))


def _spoken_settings(plan: Plan, goal: Goal) -> dict[str, Any]:
    """Return metric, costs, families and time limit of the words, but not what the plan's kind rules out."""
    changes: dict[str, Any] = {}
    if goal.metric and not (plan.kind and _contradicts(goal.metric, plan.kind)):
        changes["metric"] = goal.metric
    if goal.costs and plan.kind != "regression":
        costs: dict[MistakeSide, float] = {"false_alarm": goal.costs.false_alarm, "missed": goal.costs.missed}
        changes["costs"] = costs
    families = [
        name
        for name in requested_families(goal.text)
        if plan.kind is None or plan.kind in FAMILIES_BY_NAME[name].kinds
    ]
    # The same families in another order are no change to tell the user of.
    if families and set(families) != set(plan.families):
        changes["families"] = families
    if goal.time_limit_s:
        changes["time_limit_s"] = goal.time_limit_s
    return changes


def _limit_time(plan: Plan, budget_s: float) -> Plan:
    """Return the plan without a time limit that would lengthen the session: only its user may do that."""
    if plan.time_limit_s is None or plan.time_limit_s < budget_s:
        return plan
    return plan.model_copy(update={"time_limit_s": None})


def _forecast_changes(plan: Plan, goal: Goal, home: TableProfile) -> dict[str, Any]:
    """Return the horizon of a goal that looks ahead, if rows are ordered and the plan's is another one."""
    if not goal.lookahead or plan.aggregation or plan.persons or lies_ahead(plan.target or ""):
        return {}
    time = plan.time_column or named_columns.time_column(goal, home, wants_order=True)
    if time is None or time == plan.target:
        return {}
    rows = count_rows_ahead(goal.lookahead, home, time)
    if plan.horizon and (not is_counted_in_rows(goal.lookahead, home, time) or _is_near(plan.horizon, rows)):
        return {}
    return {"time_column": time, "horizon": rows}


def _is_near(planned_rows: int, spoken_rows: int) -> bool:
    """Tell if two horizons may be of the same words, which mean calendar days or trading days."""
    return 1 / MAX_CALENDAR_RATIO <= planned_rows / spoken_rows <= MAX_CALENDAR_RATIO


def _change(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    """Return the plan with the changed settings. Those that belong to another target are reset."""
    is_target_changed = changes.get("target", plan.target) != plan.target
    reset: dict[str, Any] = dict.fromkeys(TARGET_SETTINGS) if is_target_changed else {}
    return plan.model_copy(update={**reset, **changes})


def _describe_changes(plan: Plan, changed: Plan) -> Plan:
    names = [name for name in type(plan).model_fields if getattr(plan, name) != getattr(changed, name)]
    changes = ", ".join(f"{name} {_format(getattr(changed, name))}" for name in names)
    note = f"The plan follows what you asked for: {changes}."
    steps = describe_steps(changed)
    return changed.model_copy(update={"notes": [note, *plan.notes][:MAX_NOTES], "steps": steps})


def _format(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _join(planned: Sequence[str], required: Sequence[str], target: str) -> list[str]:
    return [name for name in dict.fromkeys([*planned, *required]) if name != target]


def _list_names(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _contradicts(metric: str, kind: str) -> bool:
    return (metric in REGRESSION_METRICS) != (kind == "regression")
