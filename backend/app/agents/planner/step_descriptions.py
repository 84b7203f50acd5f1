"""The steps of a plan in words."""

from app.agents.goals.conditions.row_conditions import describe_conditions
from app.agents.planner.output import Plan
from app.agents.planner.stages import Stage
from app.counts import describe_count

MAX_LISTED_COLUMNS = 5
"""Excluded columns that a step lists: more are counted, and the understanding lists the inputs instead."""


def describe_steps(plan: Plan) -> list[str]:
    """Describe the plan in one line for each of its stages."""
    if plan.question is not None:
        return [_fetch_step(plan), _answer_step(plan), _REPORT_STEP]
    lines = _stage_steps(plan)
    return [lines[stage] for stage in plan.stages if stage in lines]


_REPORT_STEP = "Write the report."


def _answer_step(plan: Plan) -> str:
    if plan.row_search:
        return f"Look for {plan.row_search.describe(plan.tables[0])}."
    return "Answer the question from the stored rows."


def _fetch_step(plan: Plan) -> str:
    names = " and ".join(f"`{table}`" for table in plan.tables)
    source = f"the prices of {' and '.join(plan.coins) or 'the coin'}" if plan.source == "prices" else names
    join = " and join them on shared keys" if plan.join else ""
    rows = f", only rows where {describe_conditions(plan.filter)}" if plan.filter else ""
    computed_table = plan.aggregation or plan.persons
    series = f", {computed_table.description}" if computed_table else ""
    return f"Fetch {source}{join}{rows}{_describe_exclusions(plan)}{series}."


def _stage_steps(plan: Plan) -> dict[Stage, str]:
    is_split_by_group = plan.group_column and not plan.horizon
    grouping = f", keeping each `{plan.group_column}` on one side" if is_split_by_group else ""
    horizon = f" from the past only, {describe_horizon(plan)}" if plan.horizon else ""
    metric = f", judged by {plan.metric}" if plan.metric else ""
    return {
        "data_retrieval": _fetch_step(plan),
        "split": f"Set a hold-out aside before the data is explored{grouping}.",
        "data_analysis": f"Look for missing values, skew and columns that leak `{_outcome_name(plan)}`.",
        "feature_engineering": f"Clean the columns that need it and build features{horizon}.",
        "model_training": f"Fit {_describe_models(plan)} and compare by cross-validation{metric}.",
        "hyperparameter_tuning": "Tune the best candidates while the score improves and time remains.",
        "final_evaluation": f"Evaluate once on the hold-out{_describe_drivers(plan)}.",
        "reporting": _REPORT_STEP,
    }


def _outcome_name(plan: Plan) -> str:
    return plan.persons.name if plan.persons else plan.target_name


def describe_horizon(plan: Plan) -> str:
    """Describe the horizon in words."""
    rows = describe_count(plan.horizon or 0, "row")
    return f"each of the next {rows}" if plan.every_step else f"{rows} ahead"


def _describe_models(plan: Plan) -> str:
    if plan.families:
        return " and ".join(plan.families)
    return "an interpretable model" if plan.model == "interpretable" else "several kinds of model"


def _describe_drivers(plan: Plan) -> str:
    return f", and measure there what `{_outcome_name(plan)}` goes with" if plan.wants_drivers else ""


def _describe_exclusions(plan: Plan) -> str:
    if len(plan.exclude) > MAX_LISTED_COLUMNS:
        return f", without {len(plan.exclude)} of its columns"
    return f", without {', '.join(f'`{name}`' for name in plan.exclude)}" if plan.exclude else ""
