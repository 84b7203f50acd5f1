"""The two plans that count the rows behind an answer."""

from typing import NamedTuple

from app.plans.plan import (
    Aggregation,
    DeriveStep,
    FilterStep,
    GroupStep,
    JoinStep,
    Plan,
    PlanSource,
    SelectStep,
)

_ROWS_KEPT = (JoinStep, FilterStep, DeriveStep, SelectStep)
"""Steps after which a row of the answer is still a row of the source."""


class CountingPlans(NamedTuple):
    """`rows_used`: rows after joins and filters. `rows_there`: rows of the source."""

    rows_used: Plan
    rows_there: Plan


def make_counting_plans(plan: Plan) -> CountingPlans:
    """Plans whose one row holds a count; rows are counted before the first step that merges or drops them
    otherwise than by a condition. Of nested plans the innermost source is counted, with the steps of all plans
    up to that step."""
    total = GroupStep(kind="group", aggregations=[Aggregation(name="rows", function="count")])
    inner, steps = plan, [*plan.steps]
    while isinstance(inner.source, PlanSource):
        inner = inner.source.plan
        steps = [*inner.steps, *steps]
    end = next((n for n, step in enumerate(steps) if not isinstance(step, _ROWS_KEPT)), len(steps))
    # Parts of a plan that was validated: together nested plans may have more steps than one plan.
    return CountingPlans(
        Plan.model_construct(source=inner.source, steps=[*steps[:end], total]),
        Plan(source=inner.source, steps=[total]),
    )
