"""All conditions of the rows and groups of a plan, for titles that stand without its description."""

from collections.abc import Iterator

from app.plans.conditions import list_columns
from app.plans.describe import describe_expression
from app.plans.editing import split_plan
from app.plans.plan import FilterStep, Plan, PlanSource, WindowStep


def describe_conditions(plan: Plan) -> str:
    """Describe the conditions of a plan in words, those of nested plans too; empty without any."""
    return " and ".join(dict.fromkeys(_list_conditions(plan)))


def _list_conditions(plan: Plan) -> Iterator[str]:
    if isinstance(plan.source, PlanSource):
        yield from _list_conditions(plan.source.plan)
    parts = split_plan(plan)
    for step in parts.conditions:
        yield describe_expression(step.condition, parts.derivations)
    windows = {figure.name for step in parts.ending if isinstance(step, WindowStep) for figure in step.columns}
    for ending_step in parts.ending:
        # A figure of a window, such as a rank, is a column that readers did not ask for.
        if isinstance(ending_step, FilterStep) and not list_columns(ending_step.condition, {}) & windows:
            yield describe_expression(ending_step.condition, {})
