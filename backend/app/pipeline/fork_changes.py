"""Forks of pipeline sessions: what a change of settings, preferences or a note means at a step."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.column_lineage import derived_columns, unnamed_columns
from app.agents.goals.columns.named_columns import excluded_columns
from app.agents.goals.parser import parse_goal
from app.agents.goals.phrases.model_families import requested_families
from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.planner.output import Plan
from app.agents.planner.plan_editing import InvalidPlan, Tables, edit_plan
from app.agents.planner.stages import STAGES
from app.agents.planner.stored_prices import PRICES
from app.agents.training_context import preferred_model
from app.datasets.column_check import check_columns
from app.datasets.dataset_names import make_table_names
from app.errors import InvalidInput
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.sessions.forks.schemas import ForkChange
from app.sessions.forks.source import ForkEffect, ForkRules, ForkSource
from app.sessions.schemas import Preferences

Settings = Mapping[str, Any]
"""Changed settings by the names of `ForkSettings`, and `model`."""

BLOCKING_NODES: Mapping[str, tuple[str, ...]] = {
    # Recipes of features may be made of any column that the analysis saw.
    "leave_out": ("data_analysis", "feature_engineering", "model_training"),
    "metric": ("model_training",),
    "families": ("model_training",),
    "costs": ("model_training",),
    "model": ("model_training",),
    "stages": (),
}
"""Setting -> nodes whose work depends on it: a copied step of one of these would contradict the change."""

LATER_PREFERENCES = ("time_budget_s", "deterministic", "model", "budget", "clarify")
"""Preferences that steps after planning read. The plan holds all others."""

PLANNED_PREFERENCES = {"exclude": "leave_out", "metric": "metric", "costs": "costs", "families": "families"}
"""Preference that the plan holds -> the setting of a fork that changes it later."""

DATA_DEPENDENT_METRICS = ("mape", "rmsle", "poisson_deviance")
"""Metrics that some values of a target leave undefined, which only the split can check."""

_ONLY_LINEAR = re.compile(r"\b(?:only|just|nothing but)(?: use| fit| try)? linear models?\b", re.IGNORECASE)


def reads_datasets(source: ForkSource) -> bool:
    """Tell if the fork itself reads the datasets: in the retrieval, or in the answer to a question."""
    plan = source.state.get("plan") or {}
    return ("answering" if plan.get("question") else "data_retrieval") not in source.nodes


def decide_effect(source: ForkSource, change: ForkChange) -> ForkEffect:
    """Decide the effect of a change at a step. Raises InvalidInput with the reason and what would do."""
    preferences = _change_preferences(source, change)
    settings = _requested_settings(source, change)
    if source.step == 1:
        return ForkEffect(_apply_to_preferences(preferences, settings))
    overlay = _make_overlay(source, settings) if settings else {}
    note_settings, notes = _read_note(source, change.note, settings) if change.note else ({}, [])
    if note_settings:
        overlay = _make_overlay(source, {**note_settings, **settings})
    return ForkEffect(preferences, overlay, (*notes, *_make_notes(source, settings)))


RULES = ForkRules(decide_effect, reads_datasets)


def _change_preferences(source: ForkSource, change: ForkChange) -> dict[str, Any]:
    """Return the preferences with the changed ones. Raises InvalidInput for one that no later step reads."""
    if change.preferences is None:
        return dict(source.preferences)
    changed = change.preferences.model_dump(mode="json", exclude_unset=True)
    if "seed" in changed:
        raise InvalidInput(
            "seed_is_shared",
            "A fork keeps the seed of its source, so that both have the same hold-out. Start a new session for "
            "another seed.",
            field="change.preferences.seed",
        )
    for name in changed:
        if source.step > 1 and name not in LATER_PREFERENCES:
            setting = PLANNED_PREFERENCES.get(name)
            remedy = f", or send it as `settings.{setting}`" if setting else ""
            raise InvalidInput(
                "preference_is_planned",
                f"`{name}` is read in planning, which is copied: fork at step 1{remedy}. Later steps read the "
                f"preferences {', '.join(LATER_PREFERENCES)}.",
                field=f"change.preferences.{name}",
            )
    if source.datasets:
        columns = (name for dataset in source.datasets for name in dataset.columns)
        check_columns(changed, columns, "change.preferences")
    merged = Preferences.model_validate({**_known_preferences(source.preferences), **changed})
    return merged.model_dump(mode="json", exclude_none=True)


def _known_preferences(preferences: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the seed, which stands in the session, and what other versions of the service stored."""
    fields = Preferences.model_fields.keys() - {"seed"}
    return {name: value for name, value in preferences.items() if name in fields}


def _requested_settings(source: ForkSource, change: ForkChange) -> dict[str, Any]:
    """Return the settings that the request changes, with the preference `model`, which the plan holds too."""
    settings: dict[str, Any] = {}
    if change.settings is not None:
        requested = change.settings.model_dump(mode="json", exclude_unset=True)
        # An empty list changes nothing: what was left out before stays so.
        settings = {name: value for name, value in requested.items() if value is not None and value != []}
    if change.preferences is not None and change.preferences.model and source.step > 1:
        settings["model"] = change.preferences.model
    return settings


def _apply_to_preferences(preferences: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Express settings as preferences, since step 1 makes the plan. Raises InvalidInput where there is none."""
    if "stages" in settings:
        raise InvalidInput(
            "not_planned_yet",
            "`stages` is a setting of the plan, which step 1 makes: fork at step 2.",
            field="change.settings.stages",
        )
    changed = {name: settings[name] for name in ("metric", "costs", "families") if name in settings}
    if "leave_out" in settings:
        changed["exclude"] = [*dict.fromkeys([*preferences.get("exclude", []), *settings["leave_out"]])]
    return {**preferences, **changed}


def _make_overlay(source: ForkSource, settings: Settings) -> dict[str, Any]:
    """Return the keys of the state that the settings change. Raises InvalidInput."""
    state = source.state
    plan = Plan.model_validate(state["plan"])
    if plan.question is not None:
        raise _refuse(
            next(iter(settings)), "This session answers a question, and its plan has no model to set."
        )
    for name in settings:
        _check_time(source, name)
    problem = Problem.from_json(state["problem"]) if "problem" in state else None
    _check_columns(plan, problem, settings.get("leave_out", ()))
    if "stages" in settings:
        _check_stages(source, settings["stages"])
    changed = _edit_plan(source, plan, problem, settings)
    overlay: dict[str, Any] = {"plan": changed.model_dump(mode="json")}
    if "leave_out" in settings and "retrieved" in state:
        exclude = dict.fromkeys([*state["retrieved"]["exclude"], *_left_out_columns(source, settings)])
        overlay["retrieved"] = {**state["retrieved"], "exclude": [*exclude]}
    if problem is not None:
        overlay["problem"] = {**state["problem"], **_problem_changes(source, problem, settings)}
    return overlay


def _check_time(source: ForkSource, name: str) -> None:
    """Check that no copied step depends on the setting."""
    blocking = BLOCKING_NODES[name]
    step = next((step for step in source.steps if step.node in blocking), None)
    if step is not None:
        raise _refuse(
            name,
            f"`{name}` decides what step {step.seq} ({step.node}) does, and a fork at step {source.step} "
            f"copies that step. Fork at step {step.seq} or earlier.",
            latest_step=step.seq,
        )


def _check_columns(plan: Plan, problem: Problem | None, names: Sequence[str]) -> None:
    """Check that the split does not depend on columns that are left out."""
    structure = problem or plan
    for role, column in (("orders", structure.time_column), ("groups", structure.group_column)):
        if column in names:
            raise _refuse(
                "leave_out", f"`{column}` {role} the rows, so the split depends on it: fork at step 1."
            )


def _check_stages(source: ForkSource, stages: Sequence[str]) -> None:
    """Check that the stages agree with those that have run."""
    completed = [node for node in STAGES if node in source.nodes]
    removed = next((stage for stage in completed if stage not in stages), None)
    if removed is not None:
        step = next(step.seq for step in source.steps if step.node == removed)
        raise _refuse("stages", f"The stage {removed} has run in step {step}: fork at step {step} or earlier.")
    latest = STAGES.index(completed[-1]) if completed else -1
    skipped = next((stage for stage in STAGES[:latest] if stage in stages and stage not in completed), None)
    # Tuning stands before the final evaluation, but follows an evaluation whenever that asks for it.
    if skipped and (skipped != "hyperparameter_tuning" or "final_evaluation" in completed):
        raise _refuse(
            "stages",
            f"The stage {skipped} comes before {completed[-1]}, which has run: fork at an earlier step.",
        )


def _edit_plan(source: ForkSource, plan: Plan, problem: Problem | None, settings: Settings) -> Plan:
    changes: dict[str, Any] = {name: settings[name] for name in settings if name != "leave_out"}
    if "leave_out" in settings:
        changes["exclude"] = [*dict.fromkeys([*plan.exclude, *settings["leave_out"]])]
    if settings.get("costs") and plan.kind == "regression":
        raise _refuse("costs", "Costs of errors need two classes, and this session predicts a number.")
    try:
        # A plan may leave the kind open; after the split its settings are checked against the one in the data.
        complete_plan = plan.model_copy(update={"kind": problem.kind.value}) if problem else plan
        edited = edit_plan(complete_plan, changes, _tables(source, plan))
    except InvalidPlan as error:
        raise _refuse(next(iter(settings)), str(error)) from error
    return edited.model_copy(update={"kind": plan.kind})


def _problem_changes(source: ForkSource, problem: Problem, settings: Settings) -> dict[str, Any]:
    """Return the changed fields of the complete problem."""
    changes: dict[str, Any] = {}
    if "leave_out" in settings:
        changes["exclude"] = [*dict.fromkeys([*problem.exclude, *_left_out_columns(source, settings)])]
    if "costs" in settings:
        if not problem.is_binary:
            raise _refuse("costs", "Costs of errors need two classes, and this problem has others.")
        changes["costs"] = [settings["costs"]["false_alarm"], settings["costs"]["missed"]]
    if "metric" in settings:
        _check_metric(source, problem, settings["metric"], has_costs="costs" in settings)
        changes["metric"] = settings["metric"]
    return changes


def _left_out_columns(source: ForkSource, settings: Settings) -> list[str]:
    """Return the columns to leave out, with the names that the fetching SELECT gave to what it made of them."""
    names = list(settings["leave_out"])
    sql = source.state["retrieved"].get("sql", "")
    fetched = [str(column["name"]) for column in source.state.get("columns", ())]
    return [*names, *derived_columns(sql, names), *unnamed_columns(fetched, names)]


def _check_metric(source: ForkSource, problem: Problem, name: str, has_costs: bool) -> None:
    """Check that the metric is defined for the problem, as the split checks it."""
    if METRICS[name].kind is not problem.kind:
        raise _refuse("metric", f"{name} does not judge {problem.kind.value}.")
    if name in DATA_DEPENDENT_METRICS:
        split = next(step.seq for step in source.steps if step.node == "split")
        raise _refuse(
            "metric", f"Whether {name} is defined depends on the values of the target: fork at step {split}."
        )
    if METRICS[name].binary_only and not problem.is_binary:
        raise _refuse("metric", f"{name} is defined for two classes only.")
    if name == "top_3_accuracy" and len(problem.classes or ()) <= 3:
        raise _refuse("metric", f"{name} says nothing with three classes or fewer.")
    if name == "cost" and not (has_costs or problem.costs):
        raise _refuse("metric", "The metric cost needs `settings.costs`.")


def _tables(source: ForkSource, plan: Plan) -> Tables:
    """Return the columns that a plan may name, by table: those of the datasets and of the retrieved table.

    The plan's own columns count, since its datasets may have been deleted.
    """
    derived = [str(column["name"]) for column in source.state.get("columns", ())]
    planned = [name for name in (plan.target, plan.time_column, plan.group_column) if name]
    planned += [*plan.exclude, *(condition.column for condition in plan.filter)]
    if plan.source == "prices":
        return {PRICES.name: [*derived, *planned, *(column.name for column in PRICES.columns), "coin"]}
    names = make_table_names([dataset.name for dataset in source.datasets])
    stored = {
        name: [*dataset.columns, *derived, *planned]
        for name, dataset in zip(names, source.datasets, strict=True)
    }
    return {**{name: [*derived, *planned] for name in plan.tables}, **stored}


def _read_note(source: ForkSource, note: str, settings: Settings) -> tuple[Settings, list[str]]:
    """Return the settings that a note names and may still change, and sentences about the rest of it.

    Settings of the request itself take precedence.
    """
    plan = Plan.model_validate(source.state["plan"])
    if plan.question is not None:
        return {}, ["The note changes no setting, since this session answers a question."]
    note_settings, unmatched = _parse_note(source, plan, note)
    notes = [f"The note leaves out {phrase!r}, but no column has that name." for phrase in unmatched]
    applied: dict[str, Any] = {}
    for name, value in note_settings.items():
        if name in settings:
            continue
        # Settings are tried one by one, so that one that is refused does not take the others with it.
        try:
            _make_overlay(source, {**applied, name: value})
        except InvalidInput as error:
            notes.append(f"The note's `{name}` has no effect: {error.detail}")
        else:
            applied[name] = value
    if not note_settings and not unmatched:
        notes.append(
            "No setting of the plan follows from the note. Agents with a chat model read it after the goal; "
            "without a chat model it has no effect."
        )
    return applied, notes


def _parse_note(source: ForkSource, plan: Plan, note: str) -> tuple[Settings, list[str]]:
    """Return the settings that a note names, and its exclusions that match no column."""
    goal = parse_goal(note)
    names = dict.fromkeys(name for columns in _tables(source, plan).values() for name in columns)
    table = TableProfile("", 0, tuple(Column(name, "text", "text") for name in names))
    columns, unmatched = excluded_columns(goal, table, plan.target)
    columns = [name for name in columns if name not in plan.exclude]
    # "Leave out the fee, and judge by F1": the list of names ends where another setting is named.
    unmatched = [phrase for phrase in unmatched if not (parse_goal(phrase).metric or _parse_model(phrase))]
    costs = goal.costs and {"false_alarm": goal.costs.false_alarm, "missed": goal.costs.missed}
    note_settings = {
        "leave_out": columns,
        "metric": goal.metric,
        "costs": costs,
        "model": _parse_model(note),
        "families": [*requested_families(note)],
    }
    return {name: value for name, value in note_settings.items() if value}, unmatched


def _parse_model(text: str) -> str | None:
    """Return the choice of models that a text names, None if it names none."""
    model = "interpretable" if _ONLY_LINEAR.search(text) else preferred_model(text, {})
    return model if model != "ensemble" else None


def _make_notes(source: ForkSource, settings: Settings) -> list[str]:
    metric = source.state.get("problem", {}).get("metric")
    if "costs" in settings and "metric" not in settings and metric and metric != "cost":
        return [
            f"Candidates are still compared by {metric}; send `settings.metric` cost to compare by the costs."
        ]
    return []


def _refuse(setting: str, detail: str, **facts: object) -> InvalidInput:
    group = "preferences" if setting == "model" else "settings"
    return InvalidInput("setting_refused", detail, field=f"change.{group}.{setting}", **facts)
